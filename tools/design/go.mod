module github.com/kaas-rs/kaas/tools/design

go 1.26.0

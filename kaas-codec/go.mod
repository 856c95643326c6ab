module github.com/kaas-rs/kaas/kaas-codec

go 1.26

module github.com/kaas-rs/kaas/kaas-k8s/api

go 1.26.0

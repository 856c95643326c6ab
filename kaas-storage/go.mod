module github.com/kaas-rs/kaas/kaas-storage

go 1.26

require (
	github.com/kaas-rs/kaas/kaas-codec v0.1.0
)

replace (
	github.com/kaas-rs/kaas/kaas-codec => ../kaas-codec
)

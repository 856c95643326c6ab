module github.com/kaas-rs/kaas/kaas-broker

go 1.26.0

require (
	github.com/kaas-rs/kaas/kaas-codec v0.1.0
	github.com/kaas-rs/kaas/kaas-k8s/api v0.1.0
	github.com/kaas-rs/kaas/kaas-protocol v0.1.0
	github.com/kaas-rs/kaas/kaas-storage v0.1.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/spf13/pflag v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace (
	github.com/kaas-rs/kaas/kaas-codec => ../kaas-codec
	github.com/kaas-rs/kaas/kaas-k8s/api => ../kaas-k8s/api
	github.com/kaas-rs/kaas/kaas-protocol => ../kaas-protocol
	github.com/kaas-rs/kaas/kaas-storage => ../kaas-storage
)

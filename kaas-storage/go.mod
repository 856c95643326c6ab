module github.com/kaas-rs/kaas/kaas-storage

go 1.26.0

require (
	github.com/google/uuid v1.6.0
	github.com/kaas-rs/kaas/kaas-codec v0.1.0
	github.com/rs/zerolog v1.35.1
	go.opentelemetry.io/otel v1.47.0
	go.opentelemetry.io/otel/metric v1.47.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
)

replace github.com/kaas-rs/kaas/kaas-codec => ../kaas-codec

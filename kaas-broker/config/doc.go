// Package config is everything a kaas process is configured by: command line flags, environment variables, a Kafka
// properties file, and the defaults below them.
//
// [Load] reads the sources, reports every problem at once and returns one [Config]. Settings carry Kafka's own property
// names wherever Kafka has one, so that a server.properties written for Kafka starts kaas; what kaas adds is named
// kaas.*. Flags win over environment variables, these over the file, the file over the defaults.
//
// The package touches the file system only to read the named properties file. A Config is not changed after Load and
// may be shared by goroutines.
package config

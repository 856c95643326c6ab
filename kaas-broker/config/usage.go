package config

import "strings"

// Usage returns the text of --help.
func Usage() string {
	var text strings.Builder
	text.WriteString(usageHead)
	// Nobody needs to be told that a switch can be given a value.
	const switchValue = "[=true|false]"
	text.WriteString(strings.ReplaceAll(newFlagSet().FlagUsages(), switchValue, strings.Repeat(" ", len(switchValue))))
	text.WriteString(usageTail)
	return text.String()
}

const usageHead = `kaas is a Kafka broker in one process. Any Kafka client can talk to it.

Usage: kaas [flags]

Try it, in memory, gone when it stops:
  kaas
  kcat -b 127.0.0.1:9092 -t greetings -P <<< hello
  kcat -b 127.0.0.1:9092 -t greetings -C -e

Keep what is written:
  kaas --data-dir /var/lib/kaas

Let other machines in (they connect to the advertised address, so name one that they can reach):
  kaas --data-dir /var/lib/kaas --listeners PLAINTEXT://0.0.0.0:9092 \
       --advertised-listeners PLAINTEXT://broker.example.com:9092

Use the configuration of a Kafka broker, with one property changed:
  kaas --config server.properties --override num.partitions=6

Flags:
`

const usageTail = `
Properties carry Kafka's names. Every one of them is also a variable: message.max.bytes is KAAS_MESSAGE_MAX_BYTES, and
KAAS_DATA_DIR, KAAS_CLUSTER_DIR, KAAS_LISTENERS, KAAS_ADVERTISED_LISTENERS, KAAS_HEALTH_ADDR, KAAS_LOG_LEVEL,
KAAS_LOG_FORMAT and KAAS_CONFIG stand for the flags. Flags win over variables, variables over the file.
Properties that mean nothing here are ignored with a warning; a name that Kafka does not know is an error.
`

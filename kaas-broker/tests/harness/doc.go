// Package harness runs a broker for a test: kaas built from this repository, an Apache Kafka to compare with, or whatever listens elsewhere.
//
// The environment chooses:
//
//	KAAS_TEST_BROKER     kaas (default) or apache, which starts Apache Kafka 3.7.2
//	KAAS_TEST_BOOTSTRAP  host:port of a broker that runs already; tests that must start, configure or kill their broker are skipped
//	KAAS_SHARED          folder with kafka/fetch.sh, start.sh and stop.sh (default ../shared beside the repository); tests that need
//	                     Apache Kafka or its shell tools are skipped when it is absent
//	KAAS_SOAK            1 repeats kills and the like hundreds of times
//	KAAS_LONG            1 runs the tests that are too long for every change, too
//	KAAS_RECORD          1 writes what Apache Kafka's tools print of it, to compare with, instead of comparing
//	KAAS_REQUIRE_CLIENTS 1 makes a missing client suite an error instead of a skipped test
package harness

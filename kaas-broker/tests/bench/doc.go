// Command bench races kaas against Apache Kafka 3.7.2 on one machine and writes what it found to docs/benchmarks.
//
// Three contestants run the same works with the same client in rounds that are interleaved: kaas in single mode, Apache Kafka with
// log.flush.interval.messages=1, which syncs before it acknowledges as kaas does, and Apache Kafka with its defaults, which acknowledges from the page
// cache. Each lap begins in a fresh directory. The disk and the loopback are probed before the first round and after each one, and the disk also right before and
// after each work that is compared with it, so that every figure stands beside what the machine could have given at that moment.
//
// `make bench` runs it; BENCH passes flags, as in `make bench BENCH='-quick'`. Apache Kafka is started by the scripts in KAAS_SHARED
// (default ../shared relative to the repository). It runs on Linux only.
//
// # Files
//
//   - race.go, lap.go: rounds, contestants, the order of works
//   - server.go, kaas.go, apache.go, process.go: brokers as processes, and what the kernel tells of them
//   - wire.go, topics.go, producer.go, records.go: the client
//   - produce.go, single.go, offered.go, endtoend.go, fetch_*.go, commits.go, transactions.go, partitions.go, recovery.go,
//     replay.go, idle.go: one work each
//   - disk.go, beside.go, loopback.go, thread.go, machine.go: the physical limits
//   - ballast.go: the memory that works find
//   - metric.go, target.go, statistics.go, table.go, report.go: what is measured, wanted and written
package main

package main

import "slices"

// metric names one measurement; its unit is in the name. The names stand in the JSON file.
type metric string

// Measurements of a contestant.
const (
	produceOne       metric = "produce_1_partition_mb_per_s"
	produceEight     metric = "produce_8_partitions_mb_per_s"
	produceIdem      metric = "produce_8_partitions_idempotent_mb_per_s"
	produceBare      metric = "produce_8_partitions_bare_requests_mb_per_s"
	singleP50        metric = "one_record_at_a_time_p50_ms"
	singleP99        metric = "one_record_at_a_time_p99_ms"
	offeredP50       metric = "offered_2000_per_s_p50_ms"
	offeredP99       metric = "offered_2000_per_s_p99_ms"
	endToEndP50      metric = "end_to_end_p50_ms"
	endToEndP99      metric = "end_to_end_p99_ms"
	fetchBare        metric = "fetch_bare_requests_mb_per_s"
	fetchClient      metric = "fetch_client_mb_per_s"
	commitRate       metric = "commits_of_50_groups_per_s"
	commitP99        metric = "commits_of_50_groups_p99_ms"
	steadyP50        metric = "commits_of_1000_groups_each_second_p50_ms"
	steadyP99        metric = "commits_of_1000_groups_each_second_p99_ms"
	transactionRate  metric = "transactions_of_100_records_per_s"
	transactionP50   metric = "transactions_of_100_records_p50_ms"
	transactionP99   metric = "transactions_of_100_records_p99_ms"
	groupReplay      metric = "replay_of_10000_groups_s"
	produceCPU       metric = "produce_broker_cpu_s_per_gb"
	fetchCPU         metric = "fetch_broker_cpu_s_per_gb"
	recovery         metric = "recovery_of_0_4_gb_s"
	recoveryLarge    metric = "recovery_of_2_gb_s"
	partitionFew     metric = "memory_per_partition_of_200_kib"
	partitionMany    metric = "memory_per_partition_of_2000_kib"
	peakMemory       metric = "peak_memory_mb"
	idleStart        metric = "idle_10000_start_s"
	idleMemory       metric = "idle_10000_memory_per_partition_kb"
	idleFiles        metric = "idle_10000_open_files"
	idleFilesInitial metric = "idle_0_open_files"
)

// Measurements of the machine.
const (
	diskSmallP50 metric = "append_fdatasync_4_kib_p50_ms"
	diskLarge    metric = "append_fdatasync_1_mib_mb_per_s"
	diskCPU      metric = "append_fdatasync_1_mib_cpu_s_per_gb"
	loopback     metric = "sendfile_loopback_mb_per_s"
	loopbackCPU  metric = "sendfile_loopback_sender_cpu_s_per_gb"
)

// row is one line of the tables.
type row struct {
	metric metric
	title  string
	unit   string
	limit  metric // the physical limit, of the probes of each round; empty when there is none, and where the disk is probed beside the work
	target *target
}

// besides is the rows with a probe of the disk right before and after each measurement.
func besides() []metric {
	return []metric{produceOne, produceEight, produceIdem, produceBare, singleP50}
}

// besideDisk says whether the row's limit is the disk right before and after each measurement.
func (line row) besideDisk() bool { return slices.Contains(besides(), line.metric) }

// rows is every line, in order. A line without measurements is left out.
func rows() []row {
	return []row{
		{produceOne, "produce, 1 producer, 1 partition", "MB/s", "", targetProduceOne()},
		{produceEight, "produce, 8 producers, 8 partitions", "MB/s", "", targetProduceEight()},
		{produceIdem, "the same, idempotent", "MB/s", "", targetIdempotent()},
		{produceBare, "the same, bare requests", "MB/s", "", nil},
		{singleP50, "one record at a time, p50", "ms", "", targetSingle()},
		{singleP99, "one record at a time, p99", "ms", "", nil},
		{offeredP50, "2,000 records/s offered, p50", "ms", "", targetOfferedP50()},
		{offeredP99, "2,000 records/s offered, p99", "ms", "", targetOfferedP99()},
		{endToEndP50, "end to end at that rate, p50", "ms", "", nil},
		{endToEndP99, "end to end at that rate, p99", "ms", "", targetEndToEnd()},
		{fetchBare, "fetch, bare requests", "MB/s", loopback, targetFetchBare()},
		{fetchClient, "fetch, real client", "MB/s", loopback, targetFetchClient()},
		{commitRate, "50 groups that commit without pause", "commits/s", "", targetCommits()},
		{commitP99, "the same, p99", "ms", "", targetCommitP99()},
		{steadyP50, "1,000 groups that commit each second, p50", "ms", "", nil},
		{steadyP99, "the same, p99", "ms", "", nil},
		{transactionRate, "transactions of 100 records, 1 producer", "1/s", "", nil},
		{transactionP50, "the same, p50", "ms", "", below(transactionP50, 6, "< 6 ms")},
		{transactionP99, "the same, p99", "ms", "", nil},
		{produceCPU, "broker's CPU per GB produced (8 producers)", "s", diskCPU, atMost(produceCPU, 0.5, "≤ 0.5 s")},
		{fetchCPU, "broker's CPU per GB fetched (bare requests)", "s", loopbackCPU, atMost(fetchCPU, 0.3, "≤ 0.3 s")},
		{recovery, "kill -9 to serving the last record of 0.4 GB", "s", "", below(recovery, 0.15, "< 0.15 s")},
		{groupReplay, "kill -9 to serving the offsets of 10,000 groups", "s", "", below(groupReplay, 2, "< 2 s")},
		{recoveryLarge, "kill -9 to serving the last record of 2 GB", "s", "", atMost(recoveryLarge, 0.5, "≤ 0.5 s")},
		{partitionFew, "memory per partition at 200", "KiB", "", below(partitionFew, 20, "< 20 KiB")},
		{partitionMany, "memory per partition at 2,000", "KiB", "", below(partitionMany, 20, "< 20 KiB")},
		{peakMemory, "peak memory in the whole lap", "MB", "", below(peakMemory, 120, "< 120 MB")},
		{idleStart, "10,000 idle partitions: kill -9 to all led", "s", "", below(idleStart, 10, "< 10 s")},
		{idleMemory, "10,000 idle partitions: memory of each", "KB", "", below(idleMemory, 20, "< 20 KB")},
		{idleFiles, "10,000 idle partitions: open files", "", "", targetIdleFiles()},
	}
}

package main

// Names of the contestants, as in the JSON file.
const (
	nameKaas       = "kaas"
	nameKafkaFsync = "kafka-fsync"
	nameKafkaCache = "kafka-cache"
	nameMachine    = "machine"
)

// medians looks up the median of a measurement.
type medians func(contestant string, m metric) (float64, bool)

// target is what kaas should reach.
type target struct {
	text string
	// met is known only when everything that it compares was measured.
	met func(medians) (met, known bool)
}

// atMost is a target that does not depend on the machine.
func atMost(m metric, limit float64, text string) *target {
	return &target{text, func(of medians) (bool, bool) {
		value, known := of(nameKaas, m)
		return value <= limit, known
	}}
}

func below(m metric, limit float64, text string) *target {
	return &target{text, func(of medians) (bool, bool) {
		value, known := of(nameKaas, m)
		return value < limit, known
	}}
}

// ratio divides a measurement of kaas by another one.
func ratio(of medians, m metric, contestant string, other metric) (float64, bool) {
	value, known := of(nameKaas, m)
	divisor, both := of(contestant, other)
	if !known || !both || divisor == 0 {
		return 0, false
	}
	return value / divisor, true
}

// bestKafka is the better figure of the two Kafkas, where less is better unless more says otherwise.
func bestKafka(of medians, m metric, more bool) (float64, bool) {
	honest, one := of(nameKafkaFsync, m)
	cached, two := of(nameKafkaCache, m)
	if more {
		return max(honest, cached), one && two
	}
	return min(honest, cached), one && two
}

func targetProduceOne() *target {
	return &target{"≥ 2.8 x Kafka's honest fsync and ≥ 60 % of the disk", func(of medians) (bool, bool) {
		kafka, one := ratio(of, produceOne, nameKafkaFsync, produceOne)
		disk, two := of(nameKaas, produceOne.ofDisk())
		return kafka >= 2.8 && disk >= 0.6, one && two
	}}
}

func targetProduceEight() *target {
	return &target{"≥ 92 % of the disk", func(of medians) (bool, bool) {
		disk, known := of(nameKaas, produceEight.ofDisk())
		return disk >= 0.92, known
	}}
}

func targetIdempotent() *target {
	return &target{"within 5 % of the line above", func(of medians) (bool, bool) {
		plain, known := ratio(of, produceIdem, nameKaas, produceEight)
		return plain >= 0.95, known
	}}
}

func targetSingle() *target {
	return &target{"≤ 1.6 x raw append + fdatasync of 4 KiB", func(of medians) (bool, bool) {
		disk, known := of(nameKaas, singleP50.ofDisk())
		return disk <= 1.6, known
	}}
}

// offeredAlternative is the second way to meet the target of the offered load.
func offeredAlternative(of medians) (met, known bool) {
	value, one := of(nameKaas, offeredP99)
	best, two := bestKafka(of, offeredP99, false)
	return value <= 0.5*best, one && two
}

func targetOfferedP50() *target {
	return &target{"≤ 0.4 ms, or the p99 target's second way", func(of medians) (bool, bool) {
		value, known := of(nameKaas, offeredP50)
		if known && value <= 0.4 {
			return true, true
		}
		met, compared := offeredAlternative(of)
		return met, known && compared
	}}
}

func targetOfferedP99() *target {
	return &target{"≤ 1.5 ms, or ≤ 0.5 x the best Kafka", func(of medians) (bool, bool) {
		value, known := of(nameKaas, offeredP99)
		if known && value <= 1.5 {
			return true, true
		}
		return offeredAlternative(of)
	}}
}

func targetEndToEnd() *target {
	return &target{"below both Kafkas", func(of medians) (bool, bool) {
		value, one := of(nameKaas, endToEndP99)
		best, two := bestKafka(of, endToEndP99, false)
		return value < best, one && two
	}}
}

func targetCommits() *target {
	return &target{"above both Kafkas", func(of medians) (bool, bool) {
		value, one := of(nameKaas, commitRate)
		best, two := bestKafka(of, commitRate, true)
		return value > best, one && two
	}}
}

func targetCommitP99() *target {
	return &target{"below both Kafkas", func(of medians) (bool, bool) {
		value, one := of(nameKaas, commitP99)
		best, two := bestKafka(of, commitP99, false)
		return value < best, one && two
	}}
}

func targetFetchBare() *target {
	return &target{"≥ 95 % of sendfile", func(of medians) (bool, bool) {
		limit, known := ratio(of, fetchBare, nameMachine, loopback)
		return limit >= 0.95, known
	}}
}

func targetFetchClient() *target {
	return &target{"≥ 1.1 x the better Kafka", func(of medians) (bool, bool) {
		value, one := of(nameKaas, fetchClient)
		best, two := bestKafka(of, fetchClient, true)
		return value >= 1.1*best, one && two
	}}
}

// targetIdleFiles wants the claim's handle of each partition and nothing else beside what an empty broker has open.
func targetIdleFiles() *target {
	return &target{"one claim per partition", func(of medians) (bool, bool) {
		value, one := of(nameKaas, idleFiles)
		empty, two := of(nameKaas, idleFilesInitial)
		return value <= empty+idlePartitions+idleFileSlack, one && two
	}}
}

// idleFileSlack is for the client that looks and for the topics' own files.
const idleFileSlack = 16

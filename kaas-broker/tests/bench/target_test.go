package main

import "testing"

// filled is results of one round.
func filled(values map[string]map[metric]float64) results {
	r := results{}
	for contestant, metrics := range values {
		for m, value := range metrics {
			r.add(contestant, m, value)
		}
	}
	return r
}

func TestTargets(t *testing.T) {
	type values = map[string]map[metric]float64
	cases := []struct {
		name   string
		metric metric
		values values
		want   string
	}{
		{"one producer: both", produceOne, values{
			nameKaas: {produceOne: 600, produceOne.ofDisk(): 0.6}, nameKafkaFsync: {produceOne: 200},
		}, "met"},
		{"one producer: far from the disk", produceOne, values{
			nameKaas: {produceOne: 600, produceOne.ofDisk(): 0.59}, nameKafkaFsync: {produceOne: 200},
		}, "**missed**"},
		{"one producer: close to Kafka", produceOne, values{
			nameKaas: {produceOne: 600, produceOne.ofDisk(): 0.6}, nameKafkaFsync: {produceOne: 220},
		}, "**missed**"},
		{"one producer: no Kafka", produceOne, values{nameKaas: {produceOne: 600, produceOne.ofDisk(): 0.6}}, "not measured"},
		{"eight producers", produceEight, values{nameKaas: {produceEight: 920, produceEight.ofDisk(): 0.92}}, "met"},
		{"eight producers too slow", produceEight, values{nameKaas: {produceEight: 920, produceEight.ofDisk(): 0.919}, nameMachine: {diskLarge: 1000}}, "**missed**"},
		{"idempotent", produceIdem, values{nameKaas: {produceEight: 100, produceIdem: 95}}, "met"},
		{"idempotent too slow", produceIdem, values{nameKaas: {produceEight: 100, produceIdem: 94}}, "**missed**"},
		{"single", singleP50, values{nameKaas: {singleP50: 3.2, singleP50.ofDisk(): 1.6}}, "met"},
		{"single too slow", singleP50, values{nameKaas: {singleP50: 1.5, singleP50.ofDisk(): 1.7}, nameMachine: {diskSmallP50: 1}}, "**missed**"},
		{"offered p99 by itself", offeredP99, values{nameKaas: {offeredP99: 1.5}}, "met"},
		{"offered p99 by comparison", offeredP99, values{
			nameKaas: {offeredP99: 2}, nameKafkaFsync: {offeredP99: 30}, nameKafkaCache: {offeredP99: 4},
		}, "met"},
		{"offered p99 too slow", offeredP99, values{
			nameKaas: {offeredP99: 2}, nameKafkaFsync: {offeredP99: 30}, nameKafkaCache: {offeredP99: 3.9},
		}, "**missed**"},
		{"offered p50 by p99", offeredP50, values{
			nameKaas: {offeredP50: 1, offeredP99: 2}, nameKafkaFsync: {offeredP99: 30}, nameKafkaCache: {offeredP99: 4},
		}, "met"},
		{"offered p50 alone", offeredP50, values{nameKaas: {offeredP50: 1, offeredP99: 2}}, "not measured"},
		{"end to end", endToEndP99, values{
			nameKaas: {endToEndP99: 3}, nameKafkaFsync: {endToEndP99: 9}, nameKafkaCache: {endToEndP99: 4},
		}, "met"},
		{"end to end above one", endToEndP99, values{
			nameKaas: {endToEndP99: 4}, nameKafkaFsync: {endToEndP99: 9}, nameKafkaCache: {endToEndP99: 4},
		}, "**missed**"},
		{"commits", commitRate, values{
			nameKaas: {commitRate: 11}, nameKafkaFsync: {commitRate: 2}, nameKafkaCache: {commitRate: 10},
		}, "met"},
		{"commits slower than one", commitRate, values{
			nameKaas: {commitRate: 9}, nameKafkaFsync: {commitRate: 2}, nameKafkaCache: {commitRate: 10},
		}, "**missed**"},
		{"commits p99", commitP99, values{
			nameKaas: {commitP99: 4}, nameKafkaFsync: {commitP99: 9}, nameKafkaCache: {commitP99: 4},
		}, "**missed**"},
		{"bare fetch", fetchBare, values{nameKaas: {fetchBare: 95}, nameMachine: {loopback: 100}}, "met"},
		{"client fetch", fetchClient, values{
			nameKaas: {fetchClient: 111}, nameKafkaFsync: {fetchClient: 100}, nameKafkaCache: {fetchClient: 90},
		}, "met"},
		{"client fetch below the better", fetchClient, values{
			nameKaas: {fetchClient: 111}, nameKafkaFsync: {fetchClient: 90}, nameKafkaCache: {fetchClient: 105},
		}, "**missed**"},
		{"fixed limit reached", produceCPU, values{nameKaas: {produceCPU: 0.5}}, "met"},
		{"fixed limit to stay below", peakMemory, values{nameKaas: {peakMemory: 120}}, "**missed**"},
		{"idle files", idleFiles, values{nameKaas: {idleFiles: 10_030, idleFilesInitial: 20}}, "met"},
		{"idle files of logs", idleFiles, values{nameKaas: {idleFiles: 20_030, idleFilesInitial: 20}}, "**missed**"},
		{"no target", singleP99, values{nameKaas: {singleP99: 1}}, absent},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(filled(c.values), rowOf(t, c.metric)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func rowOf(t *testing.T, m metric) row {
	t.Helper()
	for _, line := range rows() {
		if line.metric == m {
			return line
		}
	}
	t.Fatalf("no row for %s", m)
	return row{}
}

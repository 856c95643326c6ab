package exactlyonce

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// grace is how long things may take when nothing goes wrong any more, beyond what is said: attempts that wait for their next turn, sessions that end.
const grace = 20 * time.Second

// judge looks at what is in the logs when all is quiet.
type judge struct {
	*run
	kafka *kgo.Client
	// committed are the committed records of the input by partition, in order.
	input [][]stamp
}

func newJudge(r *run) *judge {
	kafka, err := kgo.NewClient(newProcess(r.world).options()...)
	if err != nil {
		r.t.Fatal(err)
	}
	return &judge{run: r, kafka: kafka}
}

func (j *judge) close() { j.kafka.Close() }

func (j *judge) complain(format string, arguments ...any) {
	j.t.Errorf(j.name+format, arguments...)
}

// within waits until a condition holds, and complains when it takes longer than it may.
func (j *judge) within(limit time.Duration, what string, holds func() (bool, string)) {
	for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		done, state := holds()
		if done {
			return
		}
		if time.Now().After(deadline) {
			j.complain("%s still not after %v: %s", what, limit, state)
			return
		}
	}
}

// settles waits until no transaction is open in a topic any more. The last one was begun before, so that it has timed out by then.
func (j *judge) settles(topic string) {
	j.within(transactionTimeout+grace, "no transaction open in "+topic, func() (bool, string) {
		stable, ends := j.ends(topic, 1), j.ends(topic, 0)
		return stable != nil && slices.Equal(stable, ends), fmt.Sprint(stable, " of ", ends)
	})
}

// copied waits until the group has copied everything.
func (j *judge) copied() {
	j.within(transactionTimeout+grace, "all copied", func() (bool, string) {
		seen := j.seenAll(0) // first: the counts below may be of an earlier moment, but not of one before this
		read, copied := j.observers[0].count(), j.observers[1].count()
		return seen && read > 0 && copied >= read, fmt.Sprint(copied, " of ", read)
	})
}

// caughtUp waits until the observers have read everything.
func (j *judge) caughtUp() {
	for i, o := range j.observers {
		j.within(grace, "all of "+o.topic+" read", func() (bool, string) { return j.seenAll(i), "" })
	}
}

// seenAll reports whether an observer has seen all that a new reader sees.
func (j *judge) seenAll(i int) bool {
	total := 0
	for _, partition := range j.read(j.observers[i].topic, true) {
		total += len(partition)
	}
	return j.observers[i].count() >= total
}

// ends are the ends of a topic's partitions: of what is committed with isolation level 1, of all with 0. nil: not now.
func (j *judge) ends(topic string, isolation int8) []int64 {
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.IsolationLevel = -1, isolation
	row := kmsg.NewListOffsetsRequestTopic()
	row.Topic = topic
	for partition := range int32(partitions) {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, -1
		row.Partitions = append(row.Partitions, p)
	}
	request.Topics = append(request.Topics, row)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := request.RequestWith(ctx, j.kafka)
	if err != nil {
		return nil
	}
	ends := make([]int64, partitions)
	for _, p := range response.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			return nil
		}
		ends[p.Partition] = p.Offset
	}
	return ends
}

// read reads all of a topic: what is committed, or everything with its markers.
func (j *judge) read(topic string, isCommitted bool) [][]*kgo.Record {
	var options []kgo.Opt
	isolation := int8(1)
	if !isCommitted {
		isolation, options = 0, []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadUncommitted()), kgo.KeepControlRecords()}
	}
	ends := j.ends(topic, isolation)
	logs := make([][]*kgo.Record, partitions)
	if ends == nil {
		j.complain("%s has no ends", topic)
		return logs
	}
	for partition, end := range ends {
		logs[partition] = j.readPartition(topic, int32(partition), end, options)
	}
	return logs
}

// readPartition reads up to an end, which is not read itself. A reader of what is committed cannot know which record is the last: markers are invisible to it. So it
// asks for the markers too, and leaves them out.
func (j *judge) readPartition(topic string, partition int32, end int64, options []kgo.Opt) (records []*kgo.Record) {
	keepsMarkers := len(options) > 0
	options = append(fromStart(topic, options...), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(0)}}))
	kafka, err := kgo.NewClient(newProcess(j.world).options(options...)...)
	if err != nil {
		j.t.Fatal(err)
	}
	defer kafka.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for next := int64(0); next < end; {
		fetches := kafka.PollFetches(ctx)
		if ctx.Err() != nil {
			j.complain("%s-%d: only %d of %d can be read: %v", topic, partition, next, end, fetches.Err())
			return records
		}
		fetches.EachRecord(func(r *kgo.Record) {
			next = r.Offset + 1
			if keepsMarkers || !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	return records
}

// judge compares everything with everything.
func (j *judge) judge() {
	decisions := map[transaction]bool{}
	seen := map[transaction]int{}
	for i, o := range j.observers {
		raw, visible := j.read(o.topic, false), j.read(o.topic, true)
		for partition := range partitions {
			where := fmt.Sprintf("%s-%d", o.topic, partition)
			marked := j.byMarkers(where, raw[partition], i == 0, decisions)
			values := j.stamps(where, visible[partition])
			if !maps.Equal(marked, values) {
				j.complain("%s: read_committed shows %v, by the markers it is %v", where, values, marked)
			}
			if !maps.Equal(o.seen[partition], values) {
				j.complain("%s: an observer saw %v, now it is %v", where, o.seen[partition], values)
			}
			ordered := inOrder(values)
			if i == 0 {
				j.input = append(j.input, ordered)
				for _, s := range ordered {
					seen[transaction{s.producer, s.transaction}]++
				}
				continue
			}
			j.compareByKey(where, j.input[partition], ordered)
		}
	}
	j.judgeFates(decisions, seen)
	for partition, log := range j.input {
		j.sentInOrder(fmt.Sprintf("%s-%d", input, partition), log)
	}
	total := 0
	for _, log := range j.input {
		total += len(log)
	}
	j.note("%d records, %v", total, j.ledger)
	if total == 0 {
		j.complain("nothing was committed at all")
	}
}

func (j *judge) stamps(where string, records []*kgo.Record) map[int64]stamp {
	stamps := map[int64]stamp{}
	for _, r := range records {
		s, err := parseStamp(r.Value)
		if err != nil {
			j.complain("%s: offset %d: %q", where, r.Offset, r.Value)
		}
		stamps[r.Offset] = s
	}
	return stamps
}

func inOrder(values map[int64]stamp) []stamp {
	var ordered []stamp
	for _, offset := range slices.Sorted(maps.Keys(values)) {
		ordered = append(ordered, values[offset])
	}
	return ordered
}

// byMarkers finds out which records are committed from the markers alone, and checks that each marker is of the transaction that it ends.
func (j *judge) byMarkers(where string, log []*kgo.Record, isInput bool, decisions map[transaction]bool) map[int64]stamp {
	type state struct {
		identity int64
		open     []*kgo.Record
	}
	producers := map[int64]*state{}
	result := map[int64]stamp{}
	for _, r := range log {
		p := producers[r.ProducerID]
		if p == nil {
			p = &state{identity: -1}
			producers[r.ProducerID] = p
		}
		if !r.Attrs.IsControl() {
			p.open = append(p.open, r)
			continue
		}
		commits, identity := readMarker(r)
		if identity <= p.identity {
			j.complain("%s: offset %d: a marker of identity %d after one of %d", where, r.Offset, identity, p.identity)
		}
		ended := j.stamps(where, p.open)
		p.identity, p.open = identity, nil
		if isInput {
			j.decided(where, r.Offset, commits, ended, decisions)
		}
		if commits {
			maps.Copy(result, ended)
		}
	}
	for id, p := range producers {
		if len(p.open) > 0 {
			j.complain("%s: producer id %d still has a transaction open", where, id)
		}
	}
	return result
}

// readMarker reads a control record: Kafka's version and type in the key; in the value the coordinator's epoch, then the identity.
func readMarker(r *kgo.Record) (commits bool, identity int64) {
	if len(r.Key) < 4 || len(r.Value) < 14 {
		return false, -1
	}
	return binary.BigEndian.Uint16(r.Key[2:]) == 1, int64(binary.BigEndian.Uint64(r.Value[6:]))
}

// decided takes in the end of a transaction in one partition: it ends one transaction, and everywhere in the same way.
func (j *judge) decided(where string, offset int64, commits bool, ended map[int64]stamp, decisions map[transaction]bool) {
	of := map[transaction]bool{}
	for _, s := range ended {
		of[transaction{s.producer, s.transaction}] = true
	}
	if len(of) > 1 {
		j.complain("%s: the marker at %d ends more than one transaction: %v", where, offset, of)
	}
	for t := range of {
		if before, known := decisions[t]; known && before != commits {
			j.complain("%s: the marker at %d says commit=%v of %v, another one says the opposite", where, offset, commits, t)
		}
		decisions[t] = commits
	}
}

// judgeFates compares with what producers were told.
func (j *judge) judgeFates(decisions map[transaction]bool, seen map[transaction]int) {
	for t, f := range j.ledger.fates {
		commits, known := decisions[t]
		switch {
		case f == committed && !commits, (f == aborted || f == open) && commits:
			j.complain("transaction %v: its producer knows %c, the log says commit=%v (%v)", t, f, commits, known)
		case commits && seen[t] != j.ledger.records[t]:
			j.complain("transaction %v: %d of %d records", t, seen[t], j.ledger.records[t])
		}
	}
}

// sentInOrder checks that records of one key are in the order of sending.
func (j *judge) sentInOrder(where string, log []stamp) {
	last := map[string]stamp{}
	for _, s := range log {
		if before, known := last[s.key()]; known && (s.transaction < before.transaction || s.transaction == before.transaction && s.record <= before.record) {
			j.complain("%s: %v after %v", where, s, before)
		}
		last[s.key()] = s
	}
}

// compareByKey checks that the copy has, for each key, the records of the input in their order.
func (j *judge) compareByKey(where string, in, out []stamp) {
	want, got := byKey(in), byKey(out)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(want[key], got[key]) {
			j.complain("%s: key %s is %v, in the input %v", where, key, got[key], want[key])
		}
		delete(got, key)
	}
	if len(got) > 0 {
		j.complain("%s: keys that the input does not have: %v", where, got)
	}
}

func byKey(log []stamp) map[string][]stamp {
	keys := map[string][]stamp{}
	for _, s := range log {
		keys[s.key()] = append(keys[s.key()], s)
	}
	return keys
}

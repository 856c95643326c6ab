package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// sealManifest wraps a body as a manifest of a version, with its checksum.
func sealManifest(version int, body string) string {
	sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`{"version":%d,"checksum":"%08x","body":%s}`, version, sum, body)
}

const plainManifest = `{"epoch":5,"logStart":0,"ownFirst":0,"recoveryPoint":0,"recoverySegment":0,"recovery":{}}`

func TestManifestsThatAreRefused(t *testing.T) {
	body := func(changes string) string {
		return sealManifest(1, strings.Replace(plainManifest, `"recovery":{}`, `"recovery":{},`+changes, 1))
	}
	const chained = `{"epoch":5,"logStart":1,"ownFirst":9,"recoveryPoint":9,"recoverySegment":9,"recovery":{},"chain":[{"epoch":1,"first":0,"end":9,"lastSegment":0,"validBytes":9}]}`
	const compactedManifest = `"compacted":[{"base":0,"end":3,"epoch":1,"generation":1}]`
	compacted := func(files string) string {
		return sealManifest(2, strings.Replace(chained, `"chain"`, `"compacted":[`+files+`],"chain"`, 1))
	}
	cases := map[string]struct {
		content string
		want    error // nil: a CorruptionError
	}{
		"later version":                {sealManifest(3, plainManifest), storage.ErrFutureVersion},
		"later version, other form":    {`{"version":9,"anything":[1]}`, storage.ErrFutureVersion},
		"no version":                   {strings.Replace(sealManifest(1, plainManifest), `"version":1,`, "", 1), nil},
		"empty":                        {"", nil},
		"torn":                         {sealManifest(1, plainManifest)[:60], nil},
		"checksum":                     {strings.Replace(sealManifest(1, plainManifest), `"logStart":0`, `"logStart":1`, 1), nil},
		"another epoch's":              {sealManifest(1, strings.Replace(plainManifest, `"epoch":5`, `"epoch":4`, 1)), nil},
		"negative log start":           {body(`"logStart":-1`), nil},
		"recovery point below the own": {body(`"ownFirst":7`), nil},
		"nothing before the own": {
			body(`"ownFirst":7,"recoveryPoint":7,"recoverySegment":7`), nil,
		},
		"gap in the chain": {
			body(`"ownFirst":9,"recoveryPoint":9,"recoverySegment":9,"chain":[{"epoch":1,"first":0,"end":3,"validBytes":9},{"epoch":2,"first":4,"end":9,"lastSegment":4,"validBytes":9}]`), nil,
		},
		"chain begins above the log start": {
			body(`"ownFirst":9,"recoveryPoint":9,"recoverySegment":9,"chain":[{"epoch":1,"first":4,"end":9,"lastSegment":4,"validBytes":9}]`), nil,
		},
		"chain out of order": {
			body(`"ownFirst":9,"recoveryPoint":9,"recoverySegment":9,"chain":[{"epoch":2,"first":0,"end":3,"validBytes":9},{"epoch":1,"first":3,"end":9,"lastSegment":3,"validBytes":9}]`), nil,
		},
		"negative index entries":   {body(`"recovery":{"timeEntries":-1}`), nil},
		"negative aborted entries": {body(`"recovery":{"abortedEntries":-1}`), nil},
		"transaction above the recovery point": {
			body(`"producers":[{"id":1,"epoch":0,"batches":[],"transaction":{"start":0,"coordinator":-1,"identity":-1,"marker":-1}}]`), nil,
		},
		"negative transaction": {
			body(`"producers":[{"id":1,"epoch":0,"batches":[],"transaction":{"start":-2,"coordinator":-1,"identity":-1,"marker":-1}}]`), nil,
		},
		"two transactions at one offset": {
			sealManifest(1, `{"epoch":5,"logStart":3,"ownFirst":3,"recoveryPoint":3,"recoverySegment":3,"recovery":{},"producers":[
				{"id":1,"epoch":0,"batches":[],"transaction":{"start":2,"coordinator":-1,"identity":-1,"marker":-1}},
				{"id":2,"epoch":0,"batches":[],"transaction":{"start":2,"coordinator":-1,"identity":-1,"marker":-1}}]}`), nil,
		},
		"compacted files in version 1": {body(compactedManifest), nil},
		"compacted files overlap":      {compacted(`{"base":0,"end":4,"generation":1},{"base":3,"end":6,"generation":1}`), nil},
		"compacted files out of order": {compacted(`{"base":3,"end":6,"generation":1},{"base":0,"end":3,"generation":1}`), nil},
		"compacted file of nothing":    {compacted(`{"base":3,"end":3,"generation":1}`), nil},
		"compacted file below zero":    {compacted(`{"base":-1,"end":3,"generation":1}`), nil},
		"compacted recovery segment":   {compacted(`{"base":3,"end":10,"generation":1}`), nil},
		"compacted without generation": {compacted(`{"base":0,"end":3}`), nil},
		"compacted by a later epoch":   {compacted(`{"base":0,"end":3,"epoch":6,"generation":1}`), nil},
		"compacted below log start":    {compacted(`{"base":0,"end":1,"generation":1}`), nil},
		"cleaned behind the files":     {sealManifest(2, strings.Replace(chained, `"chain"`, `"compacted":[{"base":0,"end":3,"epoch":1,"generation":1}],"cleaned":4,"chain"`, 1)), nil},
		"cleaned without files":        {body(`"cleaned":3`), nil},
		"leader epochs out of order":   {body(`"leaderEpochs":[{"epoch":3,"first":0},{"epoch":2,"first":5}]`), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
			b.write("manifest.00000005", c.content)
			_, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !isCorruption(err) {
				t.Fatalf("takeover: %v", err)
			}
			if !strings.Contains(err.Error(), "manifest.00000005") {
				t.Fatalf("the file is not named: %v", err)
			}
		})
	}
}

func TestManifestHasVersionAndChecksum(t *testing.T) {
	b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
	b.take()
	dir := b.dir()
	defer dir.Close()
	data, err := vfs.ReadFile(dir, "manifest.00000001", 1<<20)
	must(t, err)
	var m struct {
		Version  int
		Checksum string
		Body     json.RawMessage
	}
	must(t, json.Unmarshal(data, &m))
	if m.Version != 1 || string(data) != sealManifest(1, string(m.Body)) {
		t.Fatalf("manifest: %s", data)
	}
}

const openManifest = `{"epoch":5,"logStart":3,"ownFirst":3,"recoveryPoint":3,"recoverySegment":3,"recovery":{"validBytes":0,"abortedEntries":0},` +
	`"producers":[{"id":1,"epoch":2,"batches":[{"s":1}],"transaction":{"start":1,"coordinator":0,"identity":4,"marker":0}}]}`

// A manifest that was written before there were transactions reads as one without any.
func TestOlderManifestHasNoTransactions(t *testing.T) {
	b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
	b.write("manifest.00000005", sealManifest(1, `{"epoch":5,"logStart":3,"ownFirst":3,"recoveryPoint":3,"recoverySegment":3,"recovery":{},"producers":[{"id":1,"epoch":2,"batches":[]}]}`))
	p := b.take()
	states := p.Producers()
	if len(states) != 1 || states[0].TransactionStart != -1 || states[0].CoordinatorEpoch != -1 || states[0].MarkerIdentity != -1 {
		t.Fatalf("producers: %+v", states)
	}
	if o := p.Offsets(); o.LastStable != 3 {
		t.Fatalf("offsets: %+v", o)
	}
}

func FuzzManifest(f *testing.F) {
	for _, seed := range []string{plainManifest, `{"epoch":5,"logStart":3,"ownFirst":3,"recoveryPoint":3,"recoverySegment":3,"recovery":{"validBytes":0},"producers":[{"id":1,"epoch":2,"batches":[{"s":1}]}]}`, openManifest, `{}`, `[]`} {
		f.Add(seed, true)
		f.Add(sealManifest(1, seed), false)
	}
	f.Fuzz(func(t *testing.T, content string, sealed bool) {
		if sealed {
			content = sealManifest(1, content)
		}
		b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
		b.write("manifest.00000005", content)
		p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
		if err != nil {
			return
		}
		if o := p.Offsets(); o.LogStart < 0 || o.LastStable < o.LogStart || o.HighWatermark < o.LastStable || o.LogEnd < o.HighWatermark {
			t.Fatalf("offsets %+v", o)
		}
		_, _ = readLog(p)
		_, _ = p.AbortedIn(0, 1<<62)
		_, _ = p.Append(sequenced(t, 1, 2, 0, 1), storage.AppendOptions{})
		_, _ = p.AppendMarker(storage.MarkerAppend{ProducerID: 1, Epoch: 2})
		p.Abandon()
	})
}

func FuzzNames(f *testing.F) {
	for _, seed := range []string{"leader.00000009", "manifest.00000009", "00000000000000000000.00000001.log", "+0000000000000000000.00000001.log", ".manifest.00000001.x.tmp", "lost+found"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
		p := b.take()
		appendDurable(t, p, records(t, "a", 1, 1))
		must(t, p.Handover(context.Background()))
		<-p.Closed()
		dir := b.dir()
		defer dir.Close()
		if err := dir.Mkdir(name); err != nil {
			t.Skip()
		}
		highest, err := storage.HighestEpoch(dir)
		must(t, err)
		p, err = b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
		if errors.Is(err, storage.ErrDeleted) || errors.Is(err, storage.ErrMoving) || highest > 1<<31-3 {
			return
		}
		must(t, err)
		if p.Epoch() <= highest {
			t.Fatalf("epoch %d is not above %d", p.Epoch(), highest)
		}
		if got := fmt.Sprint(readAll(t, p, 0)); got != "[a-0]" {
			t.Fatalf("read %s", got)
		}
	})
}

// FuzzTail replaces what lies behind the recovery point: the log then ends at the last batch that continues it, whatever the bytes are.
func FuzzTail(f *testing.F) {
	good := records(f, "t", 2, 1)
	f.Add([]byte(good))
	f.Add([]byte(good[:70]))
	f.Add(make([]byte, 200))
	var transactional []byte
	for i, offset := range []int64{0, 1, 2, 3} {
		b, err := batch.NewMarkerBatch(batch.Marker{Commit: i == 3, Identity: int64(i), HasIdentity: true}, 1, 0, 1000)
		if i%2 == 0 {
			b, err = buildTransactional(1, int32(i/2), 1, "t")
		}
		must(f, err)
		b.SetBaseOffset(offset)
		transactional = append(transactional, b...)
	}
	f.Add(transactional)
	f.Add(transactional[:len(transactional)-20])
	f.Fuzz(func(t *testing.T, content []byte) {
		b := newBench(t, vfs.NewMem(8<<20), storage.Options{})
		b.write("manifest.00000005", sealManifest(1, plainManifest))
		b.write("00000000000000000000.00000005.log", string(content))
		p := b.take()
		found, err := readLog(p)
		must(t, err)
		if end := p.Offsets().LogEnd; int64(len(found)) > end {
			t.Fatalf("%d records below %d", len(found), end)
		}
		must(t, storagetest.CheckTransactions(p))
	})
}

// FuzzIndex replaces the index files: a read then finds the right batch or reports an error.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 80}, []byte{0, 0, 0, 0, 0, 0, 3, 232, 0, 0, 0, 1})
	f.Add(make([]byte, 64), make([]byte, 96))
	f.Fuzz(func(t *testing.T, offsets, times []byte) {
		b := newBench(t, vfs.NewMem(8<<20), storage.Options{})
		b.config.IndexInterval = 1
		p := b.take()
		for i := range 6 {
			appendDurable(t, p, records(t, fmt.Sprint("r", i), 1, int64(1000+i)))
		}
		must(t, p.Handover(context.Background()))
		<-p.Closed()
		b.remove("00000000000000000000.00000001.index")
		b.remove("00000000000000000000.00000001.timeindex")
		b.write("00000000000000000000.00000001.index", string(offsets))
		b.write("00000000000000000000.00000001.timeindex", string(times))
		p = b.take()
		for offset := range int64(6) {
			section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1000})
			if err != nil || section == nil {
				continue
			}
			data := make([]byte, section.Size())
			_, err = section.ReadAt(data, 0)
			must(t, err)
			section.Release()
			if found, _, err := decodeRun(nil, data, offset); err == nil && found[0].value != fmt.Sprintf("r%d-0", offset) {
				t.Fatalf("offset %d gives %v", offset, found)
			}
		}
		_, _ = p.OffsetForTimestamp(context.Background(), 1003, 6)
	})
}

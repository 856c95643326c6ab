package hostile

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// victims are the topics that damaged requests are about.
var victims = []string{"victim-0", "victim-1", "victim-2", "..", "", strings.Repeat("v", 249)}

// filled is a request with random content that reaches as far into the broker as it can: its topics may exist, its times are short.
func filled(random *rand.Rand, key, version int16, records []byte) kmsg.Request {
	request := kmsg.RequestForKey(key)
	request.SetVersion(version)
	fill(random, reflect.ValueOf(request).Elem(), records)
	return request
}

func fill(random *rand.Rand, v reflect.Value, records []byte) {
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		if name == "Version" || name == "UnknownTags" || !field.CanSet() {
			continue
		}
		switch {
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Uint8:
			field.SetBytes(records)
		case field.Kind() == reflect.Slice:
			length := 1 + random.IntN(2)
			field.Set(reflect.MakeSlice(field.Type(), length, length))
			for j := range length {
				fillOne(random, name, field.Index(j), records)
			}
		default:
			fillOne(random, name, field, records)
		}
	}
}

func fillOne(random *rand.Rand, name string, v reflect.Value, records []byte) {
	switch v.Kind() {
	case reflect.Struct:
		if v.CanAddr() {
			if defaults, has := v.Addr().Interface().(interface{ Default() }); has {
				defaults.Default()
			}
		}
		fill(random, v, records)
	case reflect.Pointer:
		if random.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillOne(random, name, v.Elem(), records)
		}
	case reflect.String:
		v.SetString(victims[random.IntN(len(victims))])
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(number(random, name))
	case reflect.Array:
		// A topic id that nobody has, or none.
	default:
	}
}

// number is small, so that requests mean something; what waits does not wait long, and what creates creates little.
func number(random *rand.Rand, name string) int64 {
	switch name {
	case "TimeoutMillis", "MaxWaitMillis":
		return random.Int64N(40) - 2
	case "ReplicationFactor", "CurrentLeaderEpoch", "LastFetchedEpoch":
		return -1
	default:
		return random.Int64N(6) - 2
	}
}

// golden are the requests that Apache Kafka's classes have written, by key and version.
func golden(t *testing.T) map[[2]int16][][]byte {
	t.Helper()
	frames := map[[2]int16][][]byte{}
	names, err := filepath.Glob(filepath.Join(harness.Root(t), "kaas-codec", "testdata", "golden", "*-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var what, content, digits string
			var key, version int16
			if _, err := fmt.Sscan(lines.Text(), &what, &key, &version, &content, &digits); err != nil || what != "request" {
				continue
			}
			frame, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			frames[[2]int16{key, version}] = append(frames[[2]int16{key, version}], frame)
		}
		file.Close()
	}
	return frames
}

// records is a small valid batch, compressed or not.
func records(t *testing.T, codec batch.Compression) []byte {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	for i := range 3 {
		builder.Add(time.Now().UnixMilli(), fmt.Appendf(nil, "key %d", i), []byte("value value value value"))
	}
	made, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

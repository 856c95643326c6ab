package codec_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const (
	damagedPerVersion = 100
	// replacement is the encoding of U+FFFD, in hexadecimal digits.
	replacement = "efbfbd"
)

// Kafka's classes and the guard judge the same damaged requests. Where the guard
// is stricter, its reason must be one of those that the README names; it is never
// more lenient.
func TestGuardAgreesWithKafka(t *testing.T) {
	home := os.Getenv("KAFKA_HOME")
	if home == "" {
		t.Skip("KAFKA_HOME is not set: it names a directory with the jars of Apache Kafka 3.7.2 in libs")
	}
	headers, bodies := damagedRequests()
	verdicts := askKafka(t, home, headers, bodies)
	accepted := 0
	for i, verdict := range verdicts {
		request, err := codec.DecodeRequest(headers[i], bodies[i])
		again, kafkaAccepts := strings.CutPrefix(verdict, "ok ")
		name := fmt.Sprintf("key %d version %d body %x", headers[i].Key, headers[i].Version, bodies[i])
		switch {
		case err == nil && !kafkaAccepts:
			t.Errorf("%s: accepted, Kafka: %s", name, verdict)
		case err != nil && kafkaAccepts && !stricter(err):
			t.Errorf("%s: %v, Kafka reads %s", name, err, again)
		case err == nil:
			accepted++
			if again == "unwritable" || strings.Contains(again, replacement) {
				continue // Kafka replaces bytes that are not UTF-8; here they stay
			}
			if got := fmt.Sprintf("%x", request.AppendTo(nil)); got != again {
				t.Errorf("%s: read as %s, Kafka reads %s", name, got, again)
			}
		}
	}
	t.Logf("%d requests, both accept %d", len(verdicts), accepted)
}

// stricter reports whether the guard refuses by a rule that Kafka does not have.
func stricter(err error) bool {
	for _, reason := range []string{
		"tagged field ClusterId: ", "tagged field ReplicaState: ", "absent structure", "above 32 bits", "above 31 bits", "in memory",
	} {
		if strings.Contains(err.Error(), reason) {
			return true
		}
	}
	return false
}

func damagedRequests() ([]codec.RequestHeader, [][]byte) {
	var headers []codec.RequestHeader
	var bodies [][]byte
	for _, key := range decodableKeys() {
		spec, _ := codec.Lookup(key)
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			h := codec.RequestHeader{Key: key, Version: version}
			if key == 75 || key == 60 && version == 2 {
				continue // not in 3.7.2
			}
			random := rand.New(rand.NewPCG(uint64(key), uint64(version)))
			for range damagedPerVersion {
				headers = append(headers, h)
				bodies = append(bodies, damage(random, sample(random, h)))
			}
		}
	}
	return headers, bodies
}

// damage changes up to two bytes, to values that lengths and counts turn on.
func damage(random *rand.Rand, body []byte) []byte {
	values := []byte{0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xfe, 0xff}
	damaged := bytes.Clone(body)
	for range random.IntN(3) {
		if len(damaged) > 0 {
			damaged[random.IntN(len(damaged))] = values[random.IntN(len(values))]
		}
	}
	return damaged
}

func askKafka(t *testing.T, home string, headers []codec.RequestHeader, bodies [][]byte) []string {
	t.Helper()
	var questions strings.Builder
	for i, h := range headers {
		fmt.Fprintf(&questions, "%d %d %x\n", h.Key, h.Version, bodies[i])
	}
	judge := exec.CommandContext(t.Context(), "java", "-cp", filepath.Join(home, "libs", "*"),
		filepath.Join("testdata", "gen", "src", "main", "java", "GoldenMessages.java"), "judge")
	judge.Stdin = strings.NewReader(questions.String())
	judge.Stderr = os.Stderr
	answer, err := judge.Output()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := strings.Split(strings.TrimSpace(string(answer)), "\n")
	if len(verdicts) != len(bodies) {
		t.Fatalf("%d verdicts for %d requests", len(verdicts), len(bodies))
	}
	return verdicts
}

package transcripts

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// masks hides what differs from run to run or from broker to broker without meaning anything: ids, the present time, addresses, error texts, the
// documentation of settings. Whether there is one is kept.
type masks struct {
	names  map[[16]byte]string // of topic ids
	epochs map[string]int32    // of topics
	before map[string]int32    // of topics, before the broker was restarted

	members   map[string]string // names of member ids that a broker chose
	producers map[int64]string  // names of producer ids
}

// strangerID is a topic id that no topic has.
var strangerID = [16]byte{0xde, 0xad, 15: 1}

func newMasks() masks {
	return masks{names: map[[16]byte]string{strangerID: "stranger"}, epochs: map[string]int32{}, before: map[string]int32{}, members: map[string]string{}, producers: map[int64]string{}}
}

func (m *masks) learn(id [16]byte, name string, epoch int32) {
	m.names[id] = name
	if last, known := m.epochs[name]; known && last != epoch {
		m.before[name] = last
	}
	m.epochs[name] = epoch
}

// linesOf writes an answer down. Its first line is the answer itself.
func (m *masks) linesOf(response kmsg.Response, body []byte) []Line {
	_, committed := response.(*kmsg.OffsetFetchResponse)
	r := renderer{masks: m, given: committed}
	r.structure(reflect.ValueOf(response).Elem(), "", "", "", true)
	if !bytes.Equal(response.AppendTo(nil), body) {
		r.lines[0].Fields = append(r.lines[0].Fields, Field{"encoding", "unusual"})
	}
	return r.lines
}

// topicID is the name of the topic with an id that is known, or only that there is an id.
func (m *masks) topicID(id [16]byte) string {
	if name, known := m.names[id]; known {
		return name
	}
	return "<id>"
}

// scalar is the mask of a field's value, if it has one. The field is known to be set.
func (m *masks) scalar(value reflect.Value, name, topic string) (text string, masked bool) {
	switch name {
	case "TopicID":
		return m.topicID(value.Interface().([16]byte)), true
	case "ClusterID", "SessionID":
		return "<id>", true
	case "ProducerID":
		return m.producer(value.Int()), value.Int() >= 0
	case "CoordinatorEpoch":
		return "<epoch>", value.Int() >= 0
	case "Host", "Port":
		return "<address>", true
	case "ErrorMessage", "Documentation":
		return "<text>", true
	case "LogAppendTime", "Timestamp", "MaxTimestamp", "LastTimestamp", "StartTimestamp":
		return timeText(value.Int()), true
	case "LeaderEpoch", "Epoch":
		return m.epoch(int32(value.Int()), topic), true
	case "MemberID", "LeaderID":
		if value.Kind() == reflect.String {
			return strconv.Quote(shortName(m.member(value.String()))), true
		}
	case "FinalizedFeaturesEpoch":
		return "<epoch>", value.Int() >= 0
	}
	return "", false
}

// producer is the name of a producer id that has one.
func (m *masks) producer(id int64) string {
	if name, known := m.producers[id]; known {
		return "<" + name + ">"
	}
	return "<id>"
}

// chosenID is the end of a member id that a broker chose.
var chosenID = regexp.MustCompile(`-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// member is the name of a member id that is known, or its beginning if a broker chose the rest.
func (m *masks) member(id string) string {
	if name, known := m.members[id]; known {
		return "<" + name + ">"
	}
	return chosenID.ReplaceAllString(id, "-<id>")
}

// epoch tells a leader epoch by how far it is from the one that the script has learned.
func (m *masks) epoch(epoch int32, topic string) string {
	learned, known := m.epochs[topic]
	before, restarted := m.before[topic]
	switch {
	case epoch < 0:
		return strconv.Itoa(int(epoch))
	case !known || epoch == learned:
		return "<epoch>"
	case restarted && epoch == before:
		return "<epoch before>"
	default:
		return fmt.Sprintf("<epoch>%+d", epoch-learned)
	}
}

// nearNow is how far a time may be from the present and still be called so.
const nearNow = 10 * time.Minute

func timeText(ms int64) string {
	if time.Since(time.UnixMilli(ms)).Abs() < nearNow {
		return "<now>"
	}
	return strconv.FormatInt(ms, 10)
}

// counted replaces the lines whose path matches a pattern by their number. What matches a pattern behind a minus is dropped.
func counted(lines []Line, patterns []string) []Line {
	kept := lines[:0:0]
	numbers := make([]int, len(patterns))
	for _, line := range lines {
		hidden := false
		for i, pattern := range patterns {
			if !hidden && matches(strings.TrimPrefix(pattern, "-"), line.Path) {
				numbers[i]++
				hidden = true
			}
		}
		if !hidden {
			kept = append(kept, line)
		}
	}
	for i, pattern := range patterns {
		if numbers[i] > 0 && !strings.HasPrefix(pattern, "-") {
			kept = append(kept, Line{Path: pattern, Fields: []Field{{"number", strconv.Itoa(numbers[i])}}})
		}
	}
	return kept
}

// matches reports whether a text is as the pattern says, in which * stands for any characters.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, found := strings.CutPrefix(text, parts[0])
	if !found {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

package transcripts

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Line is one structure of an answer: where it is, and those of its fields that somebody set.
type Line struct {
	Path   string
	Fields []Field
}

// Field is one field, its value as text.
type Field struct{ Name, Value string }

// renderer writes one answer down.
type renderer struct {
	masks *masks
	lines []Line
	// given says that leader epochs are those that clients have sent, which need no mask.
	given bool
}

// structure writes down a structure and all below it. One that is empty and need not be kept leaves no trace.
func (r *renderer) structure(value reflect.Value, path, topic, key string, keep bool) {
	at := len(r.lines)
	r.lines = append(r.lines, Line{Path: path})
	unset := reflect.New(value.Type())
	if d, has := unset.Interface().(interface{ Default() }); has {
		d.Default()
	}
	var fields []Field
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		if name == "Version" || name == key {
			continue
		}
		fields = append(fields, r.field(value.Field(i), unset.Elem().Field(i), name, path, topic)...)
	}
	r.lines[at].Fields = fields
	if !keep && len(fields) == 0 && len(r.lines) == at+1 {
		r.lines = r.lines[:at]
	}
}

func (r *renderer) field(value, unset reflect.Value, name, path, topic string) []Field {
	switch {
	case name == "UnknownTags":
		return nil
	case name == "RecordBatches":
		r.lines = append(r.lines, r.masks.recordLines(value.Bytes(), join(path, "Records"), topic)...)
		return nil
	case isStructures(value):
		return r.elements(value, name, path, topic)
	case value.Kind() == reflect.Struct:
		r.structure(value, join(path, name), topic, "", false)
		return nil
	case value.Kind() == reflect.Pointer && value.Type().Elem().Kind() == reflect.Struct:
		if !value.IsNil() {
			r.structure(value.Elem(), join(path, name), topic, "", true)
		}
		return nil
	case value.Kind() == reflect.Slice && value.Len() == 0:
		if value.IsNil() {
			return nil
		}
		return []Field{{name, "[]"}}
	case reflect.DeepEqual(value.Interface(), unset.Interface()):
		return nil
	}
	return []Field{{name, r.scalar(value, name, topic)}}
}

func isStructures(value reflect.Value) bool {
	return value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct
}

// elements writes down an array of structures. An empty one that could have been null is told.
func (r *renderer) elements(value reflect.Value, name, path, topic string) []Field {
	if value.Len() == 0 && !value.IsNil() {
		return []Field{{name, "[]"}}
	}
	type element struct {
		value            reflect.Value
		key, name, topic string
		order            string
	}
	var elements []element
	for i := range value.Len() {
		e := element{value: value.Index(i), topic: topic, name: strconv.Itoa(i)}
		if key, text, found := r.identity(e.value); found && !strings.HasSuffix(name, "Synonyms") {
			e.key, e.name, e.order = key, text, text
			if number, err := strconv.Atoi(text); err == nil {
				e.order = fmt.Sprintf("%08d", number)
			}
			if key == "Topic" || key == "TopicID" {
				e.topic = text
			}
		}
		elements = append(elements, e)
	}
	slices.SortStableFunc(elements, func(a, b element) int { return cmp.Compare(a.order, b.order) })
	seen := map[string]int{}
	for _, e := range elements {
		label := e.name
		if seen[e.name]++; seen[e.name] > 1 {
			label += "#" + strconv.Itoa(seen[e.name])
		}
		r.structure(e.value, join(path, name+"["+label+"]"), e.topic, e.key, true)
	}
	return nil
}

// identities are the fields that tell array elements apart, the best first.
var identities = [...]string{"Topic", "TopicID", "ResourceName", "Name", "Partition", "ApiKey", "NodeID", "RelativeOffset", "Group", "MemberID", "Key", "TransactionalID", "ProducerID"}

// identity is the field that tells an array element from its neighbors, and its value.
func (r *renderer) identity(element reflect.Value) (field, text string, found bool) {
	for _, name := range identities {
		value := element.FieldByName(name)
		if !value.IsValid() || name == "TopicID" && value.IsZero() {
			continue
		}
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				continue
			}
			value = value.Elem()
		}
		switch value.Kind() {
		case reflect.String:
			if name == "Topic" && value.Len() == 0 && element.FieldByName("TopicID").IsValid() && !element.FieldByName("TopicID").IsZero() {
				continue
			}
			return name, shortName(r.masks.member(value.String())), true
		case reflect.Array:
			return name, r.masks.topicID(value.Interface().([16]byte)), true
		case reflect.Int64:
			return name, r.masks.producer(value.Int()), true
		default:
			return name, strconv.FormatInt(value.Int(), 10), true
		}
	}
	return "", "", false
}

// scalar is the text of a value that is no structure.
func (r *renderer) scalar(value reflect.Value, name, topic string) string {
	if masked, is := r.masks.scalar(value, name, topic); is && (name != "LeaderEpoch" || !r.given) {
		return masked
	}
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return "null"
		}
		value = value.Elem()
	}
	switch {
	case value.Kind() == reflect.String:
		return strconv.Quote(value.String())
	case value.Kind() == reflect.Slice:
		var parts []string
		for i := range value.Len() {
			parts = append(parts, r.scalar(value.Index(i), "", topic))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case name == "ErrorCode":
		return errorText(int16(value.Int()))
	case value.CanInt():
		return strconv.FormatInt(value.Int(), 10)
	default:
		return fmt.Sprint(value.Interface())
	}
}

func errorText(code int16) string {
	if known := kerr.TypedErrorForCode(code); known != nil {
		return strconv.Itoa(int(code)) + " " + known.Message
	}
	return strconv.Itoa(int(code))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// longestName is how much of a name a path shows.
const longestName = 40

func shortName(name string) string {
	if len(name) > longestName {
		return name[:longestName] + "…" + strconv.Itoa(len(name))
	}
	return strings.NewReplacer("[", "(", "]", ")", "\n", "⏎", " ", "␣", "\x00", "␀").Replace(name)
}

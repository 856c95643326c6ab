package codec_test

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// unknownTag is above every tag that Kafka defines.
const unknownTag = 1000

// fill sets every field of a message to a random value that Kafka's encoding
// allows: null where the type has it, empty and short arrays, unknown tags.
func fill(random *rand.Rand, message any) {
	fillValue(random, reflect.ValueOf(message).Elem())
	resetLaterTags(message)
}

func fillValue(random *rand.Rand, v reflect.Value) {
	if tags, is := v.Addr().Interface().(*kmsg.Tags); is {
		for range random.IntN(6) - 3 {
			tags.Set(unknownTag+random.Uint32N(4), []byte(word(random)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Version" {
				fillValue(random, v.Field(i))
			}
		}
	case reflect.Pointer:
		if random.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillValue(random, v.Elem())
		}
	case reflect.Slice:
		fillSlice(random, v)
	case reflect.Array:
		for i := range v.Len() {
			fillValue(random, v.Index(i))
		}
	case reflect.String:
		v.SetString(word(random))
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(random.Float64())
	case reflect.Uint8:
		v.SetUint(random.Uint64N(256))
	default:
		v.SetInt(int64(random.Uint64()) >> (64 - v.Type().Bits()))
	}
}

func fillSlice(random *rand.Rand, v reflect.Value) {
	length := random.IntN(4) - 1
	if length < 0 {
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		length *= 100
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		fillValue(random, v.Index(i))
	}
}

func word(random *rand.Rand) string {
	return strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(12))
}

// resetLaterTags puts back tagged fields that the version does not have: kmsg
// encodes them regardless.
func resetLaterTags(message any) {
	fetch, is := message.(*kmsg.FetchRequest)
	if !is {
		return
	}
	if fetch.Version < 15 {
		fetch.ReplicaState = kmsg.NewFetchRequestReplicaState()
	}
	for t := range fetch.Topics {
		partitions := fetch.Topics[t].Partitions
		for p := range partitions {
			fresh := kmsg.NewFetchRequestTopicPartition()
			partitions[p].ReplicaDirectoryID = fresh.ReplicaDirectoryID
			partitions[p].HighWatermark = fresh.HighWatermark
		}
	}
}

// decodableKeys are the keys whose requests can be decoded: all that are served.
func decodableKeys() []int16 {
	var keys []int16
	for _, spec := range codec.Specs() {
		keys = append(keys, spec.Key)
	}
	return keys
}

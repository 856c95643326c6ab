package codec_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const longestText = 32767

// Each string of each flexible request has its bound, and bytes have none: a
// schema that takes one for the other is noticed here.
func TestGuardBoundsEveryText(t *testing.T) {
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		spec, _ := codec.Lookup(h.Key)
		if h.Version != spec.MaxVersion || !spec.Flexible(h.Version) {
			return
		}
		request := kmsg.RequestForKey(h.Key)
		request.SetVersion(h.Version)
		complete(reflect.ValueOf(request).Elem())
		resetLaterTags(request)
		eachText(reflect.ValueOf(request).Elem(), "", func(path string, resize func(length int)) {
			resize(longestText)
			withLongest := request.AppendTo(nil)
			_, longestErr := codec.DecodeRequest(h, withLongest)
			resize(longestText + 1)
			withLonger := request.AppendTo(nil)
			_, longerErr := codec.DecodeRequest(h, withLonger)
			resize(3)
			isText := !strings.HasSuffix(path, "[]byte")
			inVersion := len(withLonger) > longestText
			if longestErr != nil || isText && inVersion != errors.Is(longerErr, codec.ErrMalformed) || !isText && longerErr != nil {
				t.Errorf("%s: %d bytes: %v, one more: %v", path, longestText, longestErr, longerErr)
			}
		})
	})
}

// complete gives a message one element in each list and a value to each string.
func complete(v reflect.Value) {
	if _, is := v.Addr().Interface().(*kmsg.Tags); is {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			complete(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		complete(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		complete(v.Index(0))
	case reflect.String:
		v.SetString("abc")
	}
}

// eachText calls visit with every string and every byte slice of a message.
func eachText(v reflect.Value, path string, visit func(path string, resize func(length int))) {
	if _, is := v.Addr().Interface().(*kmsg.Tags); is {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachText(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Pointer:
		eachText(v.Elem(), path, visit)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			visit(path+" []byte", func(length int) { v.SetBytes(make([]byte, length)) })
			return
		}
		eachText(v.Index(0), path, visit)
	case reflect.String:
		visit(path, func(length int) { v.SetString(strings.Repeat("x", length)) })
	}
}

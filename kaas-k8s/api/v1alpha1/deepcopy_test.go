package v1alpha1_test

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

func TestDeepCopySharesNothing(t *testing.T) {
	for _, object := range []runtime.Object{
		new(v1alpha1.KafkaTopic), new(v1alpha1.KafkaTopicList), new(v1alpha1.KafkaUser), new(v1alpha1.KafkaUserList),
	} {
		kind := reflect.TypeOf(object).Elem().Name()
		t.Run(kind, func(t *testing.T) {
			fill(reflect.ValueOf(object).Elem())
			duplicate := object.DeepCopyObject()
			if !reflect.DeepEqual(object, duplicate) {
				t.Fatal("the copy differs")
			}
			shared(t, kind, reflect.ValueOf(object).Elem(), reflect.ValueOf(duplicate).Elem())
		})
	}
}

func TestDeepCopyOfNil(t *testing.T) {
	var topic *v1alpha1.KafkaTopic
	var user *v1alpha1.KafkaUser
	if topic.DeepCopy() != nil || user.DeepCopy() != nil || topic.DeepCopyObject() != nil || user.DeepCopyObject() != nil {
		t.Error("the copy of nil is not nil")
	}
}

// fill gives every field that can be set something to share.
func fill(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, element)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() {
			v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(1_700_000_000, 0))))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	default:
	}
}

// shared reports every reference that two values have in common.
func shared(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() {
			return
		}
		if a.Type() != reflect.TypeFor[*time.Location]() && a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
			return
		}
	default:
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.Type() != reflect.TypeFor[*time.Location]() {
			shared(t, path, a.Elem(), b.Elem())
		}
	case reflect.Slice:
		for i := range a.Len() {
			shared(t, path+"[]", a.Index(i), b.Index(i))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			shared(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	default:
	}
}

package brokertest

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// failure is the response to a request in which everything has failed with one code: its rows are those of the request, and so are the fields that both
// have, such as names and partition numbers.
func failure(request kmsg.Request, code int16) kmsg.Response {
	response := request.ResponseKind()
	to, from := reflect.ValueOf(response).Elem(), reflect.ValueOf(request).Elem()
	if old, is := request.(*kmsg.DeleteTopicsRequest); is && len(old.Topics) == 0 {
		from = reflect.ValueOf(namedTopics(old)).Elem()
	}
	if !copyRows(to, from, code) {
		setCode(to, code)
	}
	return response
}

// namedTopics gives the request the rows that it has since version 6.
func namedTopics(old *kmsg.DeleteTopicsRequest) *kmsg.DeleteTopicsRequest {
	request := kmsg.NewPtrDeleteTopicsRequest()
	for _, name := range old.TopicNames {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		request.Topics = append(request.Topics, topic)
	}
	return request
}

// copyRows makes a row in each of the response's lists for each row of the request's list of the same name, and reports whether it made any.
func copyRows(to, from reflect.Value, code int16) (made bool) {
	for i := range to.NumField() {
		rows, asked := to.Field(i), from.FieldByName(to.Type().Field(i).Name)
		if !listOfStructs(rows) || !asked.IsValid() || !listOfStructs(asked) {
			continue
		}
		for j := range asked.Len() {
			row := reflect.New(rows.Type().Elem())
			if defaults, has := row.Interface().(interface{ Default() }); has {
				defaults.Default()
			}
			copyFields(row.Elem(), asked.Index(j))
			if !copyRows(row.Elem(), asked.Index(j), code) {
				setCode(row.Elem(), code)
			}
			rows.Set(reflect.Append(rows, row.Elem()))
			made = true
		}
	}
	return made
}

// copyFields fills in what the request says under the same name and in the same type.
func copyFields(to, from reflect.Value) {
	for i := range to.NumField() {
		field, asked := to.Field(i), from.FieldByName(to.Type().Field(i).Name)
		if asked.IsValid() && field.Type() == asked.Type() && field.CanSet() && field.Kind() != reflect.Slice {
			field.Set(asked)
		}
	}
}

func listOfStructs(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct
}

func setCode(row reflect.Value, code int16) {
	if field := row.FieldByName("ErrorCode"); field.IsValid() && field.Kind() == reflect.Int16 {
		field.SetInt(int64(code))
	}
}

// unanswered reports whether the client waits for no response.
func unanswered(request kmsg.Request) bool {
	produce, is := request.(*kmsg.ProduceRequest)
	return is && produce.Acks == 0
}

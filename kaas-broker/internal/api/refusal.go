package api

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// refusal is an answer that is decided here: a Kafka error with a message of its own for the client.
type refusal struct {
	code    *kerr.Error
	message string
}

// refuse returns an error that codeOf and messageOf turn into exactly this code and text.
func refuse(code *kerr.Error, format string, args ...any) error {
	return &refusal{code: code, message: fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.message }

// Unwrap makes the code findable.
func (r *refusal) Unwrap() error { return r.code }

// refusalOf is what the client is told of an error of an admin request: code and text, 0 and nil without an error. What is no fault of the client is
// logged here, and not told in detail.
func (h *Handlers) refusalOf(subject string, err error) (code int16, message *string) {
	if err == nil {
		return 0, nil
	}
	switch known := kafkaError(err); {
	case known == kerr.UnknownServerError || known == kerr.KafkaStorageError:
		h.Logger.Error().Err(err).Str("subject", subject).Msg("admin request failed")
		return plainly(err)
	case err == error(known): //nolint:errorlint // not wrapped: there is nothing more to say
		return plainly(err)
	default:
		return known.Code, messageOf(err)
	}
}

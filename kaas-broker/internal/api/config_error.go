package api

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

// invalidConfig makes an error of package topicconfig an answer: its text is written for who sent the configuration.
func invalidConfig(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, topicconfig.ErrBadRequest):
		return refuse(kerr.InvalidRequest, "%s", oneLine(err))
	default:
		return refuse(kerr.InvalidConfig, "%s", oneLine(err))
	}
}

// oneLine is the text of an error that may be several joined: tools print it within a line.
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

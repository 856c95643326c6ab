package api

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

// invalidConfig makes an error of package topicconfig an answer: its text is written for who sent the configuration.
func invalidConfig(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, topicconfig.ErrBadRequest):
		return refuse(kerr.InvalidRequest, "%v", err)
	default:
		return refuse(kerr.InvalidConfig, "%v", err)
	}
}

package api_test

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// rights refuses the listed operations, written as "operation type name", and allows everything else.
type rights map[string]bool

func (r rights) Authorize(_ *protocol.Conn, operation kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
	return !r[fmt.Sprintf("%s %s %s", operation, resource, name)]
}

func without(refused ...string) func(*setup) {
	r := rights{}
	for _, one := range refused {
		r[one] = true
	}
	return func(s *setup) { s.authorizer = r }
}

func deletable(s *setup) { s.config.Topics.DeleteEnabled = true }

// brokerValues are those of a broker with these properties.
func brokerValues(t testing.TB, settings ...string) func(*setup) {
	t.Helper()
	args := []string{"--listeners", "PLAINTEXT://127.0.0.1:0"}
	for _, setting := range settings {
		args = append(args, "--override", setting)
	}
	c, err := config.Load(config.Input{Args: args})
	must(t, err)
	return func(s *setup) { s.config.Values = c.Values }
}

func text(p *string) string {
	if p == nil {
		return "<null>"
	}
	return *p
}

// outcome is what an admin answer says of one thing.
type outcome struct {
	name string
	code int16
}

func expectOutcomes(t *testing.T, got []outcome, want ...outcome) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answered\n%v, want\n%v", got, want)
	}
}

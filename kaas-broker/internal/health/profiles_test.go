package health_test

import (
	"net/http"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/internal/health"
)

type source struct{}

func (source) Report() health.Report { return health.Report{Status: "ok"} }

func (source) Ready() error { return nil }

func TestProfilesAreServedWhenAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		profiles bool
		want     int
	}{
		"off": {false, http.StatusNotFound},
		"on":  {true, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := health.Listen(t.Context(), health.Options{Address: "127.0.0.1:0", Source: source{}, Profiles: test.profiles})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- server.Run(t.Context()) }()
			t.Cleanup(func() {
				_ = server.Close()
				<-done
			})
			response, err := http.Get("http://" + server.Addr().String() + "/debug/pprof/heap")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.want {
				t.Errorf("status %d, want %d", response.StatusCode, test.want)
			}
		})
	}
}

package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/internal/health"
)

// fixed answers what it was made with.
type fixed struct {
	report health.Report
	ready  error
}

func (f fixed) Report() health.Report { return f.report }

func (f fixed) Ready() error { return f.ready }

// run serves until the test ends.
func run(t *testing.T, o health.Options) *health.Server {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	server, err := health.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server
}

func get(t *testing.T, server *health.Server, method, path string) (status int, contentType, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+server.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("content-type"), string(text)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		source       fixed
		method, path string
		status       int
		body         string
	}{
		"ready":            {fixed{}, http.MethodGet, "/readyz", http.StatusOK, "ready"},
		"not ready":        {fixed{ready: errors.New("17 to go")}, http.MethodGet, "/readyz", http.StatusServiceUnavailable, "17 to go"},
		"not ready is fit": {fixed{ready: errors.New("17 to go")}, http.MethodGet, "/healthz", http.StatusOK, `"status"`},
		"head":             {fixed{}, http.MethodHead, "/readyz", http.StatusOK, ""},
		"no such page":     {fixed{}, http.MethodGet, "/metrics", http.StatusNotFound, ""},
		"post":             {fixed{}, http.MethodPost, "/healthz", http.StatusMethodNotAllowed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := get(t, run(t, health.Options{Source: test.source}), test.method, test.path)
			if status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("%d %s, want %d %s", status, body, test.status, test.body)
			}
		})
	}
}

// What was not measured is null, not zero; what was is a number.
func TestUnmeasuredIsNull(t *testing.T) {
	controller := int32(3)
	source := fixed{report: health.Report{Status: "ok", ControllerID: &controller, PartitionsFailed: []health.FailedPartition{{Partition: "a-0", Reason: "gone"}}}}
	_, contentType, body := get(t, run(t, health.Options{Source: source}), http.MethodGet, "/healthz")
	if contentType != "application/json" {
		t.Errorf("content type %s", contentType)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"controller_epoch", "heartbeat_rtt_ms", "heartbeat_age_ms", "assignment_version", "assignment_age_ms"} {
		if value, there := fields[name]; !there || value != nil {
			t.Errorf("%s is %v, want null", name, value)
		}
	}
	if fields["controller_id"] != 3.0 || fields["partitions_led"] != 0.0 || fields["storage_stalled"] != false {
		t.Errorf("measured fields are missing:\n%s", body)
	}
	if !strings.Contains(body, `"partition": "a-0"`) || !strings.Contains(body, `"reason": "gone"`) {
		t.Errorf("the failed partition is missing:\n%s", body)
	}
}

func TestListenOnBusyAddress(t *testing.T) {
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	busy := holder.Addr().String()
	if _, err := health.Listen(t.Context(), health.Options{Address: busy, Source: fixed{}}); err == nil || !strings.Contains(err.Error(), busy) {
		t.Errorf("an address that is in use: %v", err)
	}
	moved := run(t, health.Options{Address: busy, MayMove: true, Source: fixed{}})
	if !moved.Moved() || moved.Addr().String() == busy || !strings.HasPrefix(moved.Addr().String(), "127.0.0.1:") {
		t.Errorf("moved %v to %v", moved.Moved(), moved.Addr())
	}
	if status, _, _ := get(t, moved, http.MethodGet, "/readyz"); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if free := run(t, health.Options{MayMove: true, Source: fixed{}}); free.Moved() {
		t.Error("moved from a free port")
	}
}

func TestCloseReleasesThePort(t *testing.T) {
	server, err := health.Listen(t.Context(), health.Options{Address: "127.0.0.1:0", Source: fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
	again, err := health.Listen(t.Context(), health.Options{Address: server.Addr().String(), Source: fixed{}})
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	_ = again.Close()
}

// blocking begins to answer and goes on when told to.
type blocking struct{ begun, proceed chan struct{} }

func (b blocking) Report() health.Report {
	close(b.begun)
	<-b.proceed
	return health.Report{Status: "ok"}
}

func (blocking) Ready() error { return nil }

func TestAnswerUnderWayIsGiven(t *testing.T) {
	source := blocking{make(chan struct{}), make(chan struct{})}
	server, err := health.Listen(t.Context(), health.Options{Address: "127.0.0.1:0", Source: source})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	answered := make(chan error, 1)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Addr().String()+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		answered <- err
	}()
	<-source.begun
	cancel()
	for stopping := false; !stopping; {
		probe, err := net.Dial("tcp", server.Addr().String())
		if stopping = err != nil; !stopping {
			_ = probe.Close()
		}
	}
	close(source.proceed)
	if err := <-answered; err != nil {
		t.Errorf("the answer under way: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

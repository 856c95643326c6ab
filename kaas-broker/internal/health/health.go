// Package health serves /healthz, what the broker knows of itself, and /readyz, whether it should get traffic, over HTTP.
//
// It has a server and goroutines of its own and reads counters that take no lock for long, so that a broker whose storage hangs
// answers that it hangs.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// Report is the body of /healthz. Pointers are null while there is no measurement.
type Report struct {
	Status       string `json:"status"` // ok or degraded
	Version      string `json:"version"`
	Mode         string `json:"mode"`
	ClusterID    string `json:"cluster_id"`
	BrokerID     int32  `json:"broker_id"`
	UptimeMs     int64  `json:"uptime_ms"`
	IsController bool   `json:"is_controller"`
	ControllerID *int32 `json:"controller_id"`
	// The next five are measured in cluster mode only.
	ControllerEpoch   *int64 `json:"controller_epoch"`
	HeartbeatRTTMs    *int64 `json:"heartbeat_rtt_ms"`
	HeartbeatAgeMs    *int64 `json:"heartbeat_age_ms"`
	AssignmentVersion *int64 `json:"assignment_version"`
	AssignmentAgeMs   *int64 `json:"assignment_age_ms"`

	Topics               int               `json:"topics"`
	PartitionsAssigned   int               `json:"partitions_assigned"`
	PartitionsLed        int               `json:"partitions_led"`
	PartitionsRecovering int               `json:"partitions_recovering"`
	PartitionsFailed     []FailedPartition `json:"partitions_failed"` // slots too
	SlotsAssigned        int               `json:"coordinator_slots_assigned"`
	SlotsLed             int               `json:"coordinator_slots_led"`
	StorageStalled       bool              `json:"storage_stalled"`
	StorageFull          bool              `json:"storage_full"`
	Problems             []string          `json:"problems"` // manifests that cannot be followed, slots whose records cannot be understood
	RecordDecodes        map[string]int64  `json:"codec_record_decode"`
	BatchReencodes       map[string]int64  `json:"codec_batch_reencode"`
}

// FailedPartition is one that cannot be served, and why.
type FailedPartition struct {
	Partition string `json:"partition"`
	Reason    string `json:"reason"`
}

// Source is what the server asks at each request.
type Source interface {
	// Report describes the broker now, without waiting for storage.
	Report() Report
	// Ready returns nil when the broker should get traffic, else why not.
	Ready() error
}

// Options configure a server.
type Options struct {
	Address string // host:port
	MayMove bool   // a free port of the same host is taken when the address is in use
	Source  Source
	Logger  zerolog.Logger
	// Profiles serves Go's profiles under /debug/pprof/ too.
	Profiles bool
}

// Server is a bound health server.
type Server struct {
	listener net.Listener
	http     http.Server
	moved    bool
}

// Listen binds the address. The error names it.
func Listen(ctx context.Context, o Options) (*Server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Address)
	moved := false
	if err != nil && o.MayMove {
		host, _, splitErr := net.SplitHostPort(o.Address)
		if splitErr == nil {
			listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
			moved = err == nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("health listener on %s: %w", o.Address, err)
	}
	s := &Server{listener: listener, moved: moved}
	s.http = http.Server{
		Handler:           handler(o.Source, o.Profiles),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	if o.Profiles {
		s.http.WriteTimeout = profileTimeout
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Moved reports whether another port than the configured one was taken.
func (s *Server) Moved() bool { return s.moved }

// shutdownTimeout bounds how long answers under way may take once the server is to stop.
const shutdownTimeout = 2 * time.Second

// Run serves until ctx ends; what is being answered then is still answered.
func (s *Server) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if s.http.Shutdown(limited) != nil {
			_ = s.http.Close()
		}
	})
	err := s.http.Serve(s.listener)
	if !stop() {
		<-stopped
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve health: %w", err)
	}
	return nil
}

// Close ends the server at once and releases the port, also of a server that never ran.
func (s *Server) Close() error {
	err := s.http.Close()
	if unbound := s.listener.Close(); !errors.Is(unbound, net.ErrClosed) {
		err = errors.Join(err, unbound)
	}
	return err
}

func handler(source Source, profiles bool) http.Handler {
	mux := http.NewServeMux()
	if profiles {
		addProfiles(mux)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(source.Report()) // the client has gone
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := source.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ready") // the client has gone
	})
	return mux
}

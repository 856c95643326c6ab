package health

import (
	"net/http"
	"net/http/pprof"
	"time"
)

// profileTimeout bounds how long one answer may take when profiles are served: a CPU profile or trace takes as long as its client asks.
const profileTimeout = 5 * time.Minute

// addProfiles serves Go's profiles of this process where `go tool pprof` expects them.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
}

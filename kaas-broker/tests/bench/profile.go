package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profileLength is shorter than the works of a full lap.
const profileLength = 2 * time.Second

// profiles fetches profiles of kaas while it works.
type profiles struct {
	dir    string // where they are put; empty for none
	length time.Duration
}

// around runs a work and profiles the CPU and the allocations of its first seconds.
func (p profiles) around(ctx context.Context, s *server, name string, run func() error) error {
	name = strings.NewReplacer(", ", "-", " ", "-").Replace(name)
	fetched := make(chan error, 2)
	for _, kind := range []string{"profile", "allocs"} {
		go func() {
			fetched <- p.fetch(ctx, healthAddress(s.address), kind, filepath.Join(p.dir, name+"."+kind+".pprof"))
		}()
	}
	return errors.Join(run(), <-fetched, <-fetched)
}

func (p profiles) fetch(ctx context.Context, address, kind, path string) error {
	url := fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", address, kind, int(p.length.Seconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile kaas: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("profile kaas: %s", response.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, response.Body)
	return errors.Join(err, file.Close())
}

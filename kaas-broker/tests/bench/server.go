package main

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"
)

// launcher starts one kind of broker. It returns before the broker answers.
type launcher interface {
	// launch starts a broker with its data in dir, which may hold data already.
	launch(dir, address string) (process, error)
}

// process is a broker that was launched.
type process interface {
	// pid is known once the broker answers.
	pid() (int, error)
	// failed is why the broker will never answer, nil as long as it may.
	failed() error
	// release waits for what the launch left behind, after the broker has ended.
	release()
}

// server is a broker under test.
type server struct {
	launcher launcher
	dir      string
	address  string
	process  process
	number   int // its process id
	running  bool
	peak     int64         // bytes, over all its processes that have ended
	optional bool          // belongs to a work that not every race has
	patience time.Duration // how long await tries
}

// Times that are far longer than anything a broker should need.
const (
	startTimeout = 3 * time.Minute
	stopTimeout  = time.Minute
)

// newServer does not start it.
func newServer(l launcher, dir string) (*server, error) {
	address, err := freeAddress()
	return &server{launcher: l, dir: dir, address: address, patience: startTimeout}, err
}

// freeAddress is one that nothing listens on now. Kafka's controller listens 10,000 ports higher, so the port is a low one.
func freeAddress() (string, error) {
	for port := 19092; port < 19292; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if free(address) && free(fmt.Sprintf("127.0.0.1:%d", port+10000)) {
			return address, nil
		}
	}
	return "", fmt.Errorf("no free port between 19092 and 19292")
}

func free(address string) bool {
	listener, err := net.Listen("tcp", address) //nolint:noctx // is closed at once
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// launch starts the broker without waiting until it answers.
func (s *server) launch() error {
	process, err := s.launcher.launch(s.dir, s.address)
	if err != nil {
		return err
	}
	s.process, s.running, s.number = process, true, 0
	return nil
}

// start launches the broker and waits until it answers.
func (s *server) start(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.await(ctx, func(w *wire) error {
		_, err := w.metadata(nil)
		return err
	})
}

// restart kills the broker, launches it again and waits until the attempt succeeds. It returns how long all that took.
func (s *server) restart(ctx context.Context, answers func() error) (time.Duration, error) {
	began := time.Now()
	if err := s.kill(ctx); err != nil {
		return 0, err
	}
	if err := s.launch(); err != nil {
		return 0, err
	}
	err := answers()
	return time.Since(began), err
}

// await repeats an attempt on new connections until it succeeds, the broker has failed, or its patience has ended.
func (s *server) await(ctx context.Context, attempt func(*wire) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for {
		err := s.try(attempt)
		if err == nil {
			s.number, err = s.process.pid()
			return err
		}
		if failure := s.process.failed(); failure != nil {
			return failure
		}
		if ended := pause(ctx, 2*time.Millisecond); ended != nil {
			return fmt.Errorf("broker on %s does not answer: %w", s.address, err)
		}
	}
}

func (s *server) try(attempt func(*wire) error) error {
	w, err := dial(s.address)
	if err != nil {
		return err
	}
	defer w.close()
	return attempt(w)
}

// kill ends the broker by SIGKILL, if it runs, and waits for its end.
func (s *server) kill(ctx context.Context) error {
	if !s.running {
		return nil
	}
	// The benchmark that was interrupted must still end its brokers.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if s.number == 0 {
		number, err := s.process.pid()
		if err != nil {
			return fmt.Errorf("end broker on %s: %w", s.address, err)
		}
		s.number = number
	}
	s.notePeak()
	if err := end(ctx, s.number, syscall.SIGKILL); err != nil {
		return err
	}
	s.process.release()
	s.running = false
	return nil
}

func (s *server) notePeak() {
	if bytes, err := memoryOf(s.number, residentPeak); err == nil {
		s.peak = max(s.peak, bytes)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// pollInterval is how often a mailbox looks for a file. Everything that is timed is timed within one process, so it falsifies nothing.
const pollInterval = 20 * time.Millisecond

// messageLimit bounds a message in bytes: an answer lists some thousand acknowledgements.
const messageLimit = 16 << 20

// mailbox carries requests from the taker to the holder, and replies, by files of a directory that both see. There is no other way between them.
type mailbox struct {
	dir     vfs.Dir
	number  int
	timeout time.Duration
}

// request is one thing that the holder is to do.
type request struct {
	Op     string        `json:"op"`
	Name   string        `json:"name,omitempty"`
	Count  int           `json:"count,omitempty"`
	Freeze time.Duration `json:"freeze,omitempty"`
}

// reply is what became of a request.
type reply struct {
	Error    string           `json:"error,omitempty"`
	Unlinked bool             `json:"unlinked,omitempty"` // the error is that the claim is gone
	Fenced   bool             `json:"fenced,omitempty"`   // the error is a fence
	Took     time.Duration    `json:"took"`
	Host     string           `json:"host,omitempty"`
	Names    []string         `json:"names,omitempty"`
	Acked    map[int64]string `json:"acked,omitempty"` // value by offset
	Frozen   time.Duration    `json:"frozen,omitempty"`
	Noticed  time.Duration    `json:"noticed,omitempty"` // from the thaw to the fence
}

func (r reply) err() error {
	if r.Error == "" {
		return nil
	}
	return errors.New(r.Error)
}

func requestName(number int) string { return fmt.Sprintf("request.%04d", number) }
func replyName(number int) string   { return fmt.Sprintf("reply.%04d", number) }

// send gives the holder a request and returns how to get the reply.
func (m *mailbox) send(r request) (receive func(ctx context.Context) (reply, error), err error) {
	m.number++
	number := m.number
	if err := put(m.dir, requestName(number), r); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (answer reply, err error) {
		ctx, cancel := context.WithTimeoutCause(ctx, m.timeout, fmt.Errorf("the holder has not answered %q within %v", r.Op, m.timeout))
		defer cancel()
		return answer, take(ctx, m.dir, replyName(number), &answer)
	}, nil
}

// ask sends a request and waits for the reply.
func (m *mailbox) ask(ctx context.Context, r request) (reply, error) {
	receive, err := m.send(r)
	if err != nil {
		return reply{}, err
	}
	return receive(ctx)
}

// next waits for the next request.
func (m *mailbox) next(ctx context.Context) (r request, err error) {
	m.number++
	ctx, cancel := context.WithTimeoutCause(ctx, m.timeout, fmt.Errorf("the taker has asked for nothing for %v", m.timeout))
	defer cancel()
	return r, take(ctx, m.dir, requestName(m.number), &r)
}

// answer replies to the request that came last.
func (m *mailbox) answer(r reply) error { return put(m.dir, replyName(m.number), r) }

// replaced: a file that another machine replaces by renaming may be gone for a moment to whoever opens it, to be there at the next look.
func replaced(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

func put(dir vfs.Dir, name string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return vfs.WriteFileAtomic(dir, name, data)
}

// take waits until the file is there and reads it.
func take(ctx context.Context, dir vfs.Dir, name string, message any) error {
	return until(ctx, func() (bool, error) {
		found, err := listed(dir, name)
		if err != nil || !found {
			return false, err
		}
		data, err := vfs.ReadFile(dir, name, messageLimit)
		if replaced(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, json.Unmarshal(data, message)
	})
}

// until calls done at intervals until it is true, fails, or ctx ends.
func until(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func listed(dir vfs.Dir, name string) (bool, error) {
	entries, err := dir.List()
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if entry.Name == name {
			return true, nil
		}
	}
	return false, nil
}

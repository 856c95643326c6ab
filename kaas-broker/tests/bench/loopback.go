package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// loopbackPasses is how often the file is sent, so that the measurement takes long enough.
const loopbackPasses = 4

// transfer is what the receiver of bytes saw, and what they cost the sender.
type transfer struct {
	bytes int64
	took  time.Duration
	cpu   time.Duration
}

// sendOverLoopback writes a file and sends it over one loopback connection with sendfile to a receiver who throws everything away.
func sendOverLoopback(ctx context.Context, dir string, size int64) (transfer, error) {
	file, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return transfer{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := writeZeros(file, size); err != nil {
		return transfer{}, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return transfer{}, err
	}
	defer listener.Close()
	var result transfer
	sent := make(chan error, 1)
	go func() {
		var err error
		result.cpu, err = sendFile(listener, file)
		sent <- err
	}()
	began := time.Now()
	received, err := receive(ctx, listener.Addr().String())
	took := time.Since(began)
	if err != nil {
		_ = listener.Close() // ends the sender if nobody connected
	}
	if err := errors.Join(err, <-sent); err != nil {
		return transfer{}, fmt.Errorf("send over loopback: %w", err)
	}
	result.bytes, result.took = received, took
	return result, nil
}

func writeZeros(file *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for written := int64(0); written < size; written += int64(len(block)) {
		if _, err := file.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// sendFile serves one connection and returns its CPU time. The standard library uses sendfile for a whole file into a TCP connection.
func sendFile(listener net.Listener, file *os.File) (time.Duration, error) {
	connection, err := listener.Accept()
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	timer := timeThread()
	defer timer.release()
	for range loopbackPasses {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.Copy(connection, file); err != nil {
			return 0, err
		}
	}
	return timer.spent(), nil
}

func receive(ctx context.Context, address string) (int64, error) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	buffer := make([]byte, readBuffer)
	// The wrapper hides ReadFrom and WriteTo, which would choose buffers of their own.
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{connection}, buffer)
}

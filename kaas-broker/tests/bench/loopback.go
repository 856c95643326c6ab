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

// sendOverLoopback writes a file, sends it over one loopback connection with sendfile and returns MB/s as the receiver sees them, who throws
// everything away.
func sendOverLoopback(ctx context.Context, dir string, size int64) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := writeZeros(file, size); err != nil {
		return 0, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	sent := make(chan error, 1)
	go func() { sent <- sendFile(listener, file) }()
	began := time.Now()
	received, err := receive(ctx, listener.Addr().String())
	took := time.Since(began)
	if err != nil {
		_ = listener.Close() // ends the sender if nobody connected
	}
	if err := errors.Join(err, <-sent); err != nil {
		return 0, fmt.Errorf("send over loopback: %w", err)
	}
	return megabytesPerSecond(received, took), nil
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

// sendFile serves one connection. The standard library uses sendfile for a whole file into a TCP connection.
func sendFile(listener net.Listener, file *os.File) error {
	connection, err := listener.Accept()
	if err != nil {
		return err
	}
	defer connection.Close()
	for range loopbackPasses {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(connection, file); err != nil {
			return err
		}
	}
	return nil
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

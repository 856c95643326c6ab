package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const defaultReloadInterval = 10 * time.Second

// certificates keep a TLS configuration in step with its files. A file system watch would miss the ways in
// which files are replaced (renames, links of mounted secrets), so the content is read and compared.
type certificates struct {
	config  TLSConfig
	log     zerolog.Logger
	current atomic.Pointer[tls.Config]
	// server is the listener's configuration. It stays the same, and with it the keys of session tickets.
	server *tls.Config

	// tried is the content that was loaded, or failed to load, last. Only one goroutine reloads.
	tried [sha256.Size]byte
	// unreadable is the last error of reading, logged once.
	unreadable string
}

// loadCertificates reads the files for the first time.
func loadCertificates(config TLSConfig, log zerolog.Logger) (*certificates, error) {
	c := &certificates{config: config, log: log}
	files, err := config.read()
	if err != nil {
		return nil, err
	}
	built, err := files.build(config.ClientAuth)
	if err != nil {
		return nil, err
	}
	c.tried = files.sum()
	c.current.Store(built)
	c.server = &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current.Load(), nil
		},
	}
	return c, nil
}

// watch reloads until the context ends.
func (c *certificates) watch(ctx context.Context) {
	interval := c.config.ReloadInterval
	if interval <= 0 {
		interval = defaultReloadInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.reload()
		}
	}
}

// reload takes over changed files. While they cannot be read or do not fit together, as between the
// replacement of the certificate and that of its key, the configuration before stays in use.
func (c *certificates) reload() {
	files, err := c.config.read()
	if err != nil {
		if c.unreadable != err.Error() {
			c.unreadable = err.Error()
			c.log.Error().Err(err).Msg("cannot read the TLS files again, keeping the certificate in use")
		}
		return
	}
	c.unreadable = ""
	sum := files.sum()
	if sum == c.tried {
		return
	}
	c.tried = sum
	built, err := files.build(c.config.ClientAuth)
	if err != nil {
		c.log.Error().Err(err).Msg("changed TLS files are not usable, keeping the certificate in use")
		return
	}
	c.current.Store(built)
	c.log.Info().Str("certificate", c.config.CertFile).Time("expires", built.Certificates[0].Leaf.NotAfter).
		Msg("reloaded the TLS certificate")
}

// tlsFiles are the contents of a TLSConfig's files.
type tlsFiles struct{ certificate, key, authorities []byte }

func (c TLSConfig) read() (files tlsFiles, err error) {
	var certificateErr, keyErr, authoritiesErr error
	files.certificate, certificateErr = os.ReadFile(c.CertFile)
	files.key, keyErr = os.ReadFile(c.KeyFile)
	if c.ClientCAFile != "" {
		files.authorities, authoritiesErr = os.ReadFile(c.ClientCAFile)
	}
	return files, errors.Join(certificateErr, keyErr, authoritiesErr)
}

func (f tlsFiles) sum() [sha256.Size]byte {
	return sha256.Sum256(bytes.Join([][]byte{f.certificate, f.key, f.authorities}, []byte{0}))
}

func (f tlsFiles) build(clients ClientAuth) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(f.certificate, f.key)
	if err != nil {
		return nil, fmt.Errorf("load certificate and key: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if clients == ClientAuthNone {
		return config, nil
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(f.authorities) {
		return nil, errors.New("load authorities: no certificate in the file")
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if clients == ClientAuthRequested {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}

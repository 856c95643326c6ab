package protocol_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func encrypted(t *testing.T, files *protocol.TLSConfig, config protocol.Config) *protocol.Server {
	files.ReloadInterval = 5 * time.Millisecond
	config.Listeners = []protocol.Listener{{Name: "SSL", Address: "127.0.0.1:0", TLS: files}}
	return serve(t, config)
}

// presented is the name in the certificate that the server presents.
func presented(t *testing.T, server *protocol.Server) string {
	t.Helper()
	client := dialTLS(t, server, nil)
	defer client.conn.Close()
	return client.conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
}

// eventually looks until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func TestCertificateIsReloaded(t *testing.T) {
	root, directory, logged := newAuthority(t), t.TempDir(), newLog()
	first, second, third := root.issue(t, "first"), root.issue(t, "second"), root.issue(t, "third")
	files := first.write(t, directory)
	server := encrypted(t, files, protocol.Config{APIs: []protocol.API{metadata()}, Logger: logged.logger()})
	old := dialTLS(t, server, nil)
	call[*kmsg.MetadataResponse](old, metadataRequest())

	second.write(t, directory)
	eventually(t, "the second certificate", func() bool { return presented(t, server) == "second" })

	// A certificate without its key, nonsense, nothing: the second stays.
	for _, broken := range []struct {
		say   string
		spoil func() error
	}{
		{"not usable", func() error { return os.WriteFile(files.CertFile, third.certificate, 0o600) }},
		{"not usable", func() error { return os.WriteFile(files.CertFile, []byte("nonsense"), 0o600) }},
		{"cannot read", func() error { return os.Remove(files.CertFile) }},
	} {
		before := logged.count(broken.say)
		if err := broken.spoil(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a log line", func() bool { return logged.count(broken.say) > before })
		if got := presented(t, server); got != "second" {
			t.Fatalf("presents %q while the files are broken, want second", got)
		}
	}
	unusable := logged.count("not usable")
	time.Sleep(50 * time.Millisecond)
	if got := logged.count("cannot read"); got != 1 {
		t.Errorf("%d log lines about one missing file, want 1", got)
	}
	if err := os.WriteFile(files.CertFile, []byte("more nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	// Two when the file was read while it was being written.
	if got := logged.count("not usable") - unusable; got < 1 || got > 2 {
		t.Errorf("%d log lines about one unusable file, want 1", got)
	}

	third.write(t, directory)
	eventually(t, "the third certificate", func() bool { return presented(t, server) == "third" })
	call[*kmsg.MetadataResponse](old, metadataRequest()) // the connection has lived through it all
}

func TestClientCertificates(t *testing.T) {
	root := newAuthority(t)
	broker, alice, stranger := root.issue(t, "broker"), root.issue(t, "alice"), newAuthority(t).issue(t, "alice")
	cases := map[string]struct {
		auth   protocol.ClientAuth
		with   *issued
		served bool
	}{
		"none, without":              {protocol.ClientAuthNone, nil, true},
		"requested, without":         {protocol.ClientAuthRequested, nil, true},
		"requested, with":            {protocol.ClientAuthRequested, &alice, true},
		"requested, with a stranger": {protocol.ClientAuthRequested, &stranger, false},
		"required, with":             {protocol.ClientAuthRequired, &alice, true},
		"required, without":          {protocol.ClientAuthRequired, nil, false},
		"required, with a stranger":  {protocol.ClientAuthRequired, &stranger, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			peers := make(chan []*x509.Certificate, 1)
			files := broker.write(t, t.TempDir())
			files.ClientAuth = c.auth
			server := encrypted(t, files, protocol.Config{APIs: []protocol.API{replying(func(r *protocol.Request) (protocol.Reply, error) {
				peers <- r.Conn.TLS().PeerCertificates
				return protocol.Reply{Message: metadataAnswer(r)}, nil
			})}})
			config := &tls.Config{}
			if c.with != nil {
				// Presented whether the server knows its authority or not.
				pair := c.with.pair(t)
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
			}
			client := dialTLS(t, server, config)
			_, _ = client.conn.Write(frame(metadataRequest(), 1))
			_, _, err := client.tryReceive()
			if (err == nil) != c.served {
				t.Fatalf("answer: %v, want served %v", err, c.served)
			}
			if c.served && c.with != nil {
				if got := (<-peers)[0].Subject.CommonName; got != "alice" {
					t.Errorf("certificate of %q", got)
				}
			}
		})
	}
}

func TestPlaintextOnATLSListener(t *testing.T) {
	server := encrypted(t, newAuthority(t).issue(t, "broker").write(t, t.TempDir()), protocol.Config{APIs: []protocol.API{metadata()}})
	conn, err := net.Dial("tcp", server.Addr("SSL").String())
	if err != nil {
		t.Fatal(err)
	}
	client := wrap(t, conn)
	client.write(frame(metadataRequest(), 1))
	if _, _, err := client.tryReceive(); err == nil {
		t.Error("a plaintext request was answered")
	}
}

func TestSessionsAreResumed(t *testing.T) {
	server := encrypted(t, newAuthority(t).issue(t, "broker").write(t, t.TempDir()), protocol.Config{APIs: []protocol.API{metadata()}})
	config := &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(1), ServerName: "broker"}
	call[*kmsg.MetadataResponse](dialTLS(t, server, config), metadataRequest())
	if client := dialTLS(t, server, config); !client.conn.(*tls.Conn).ConnectionState().DidResume {
		t.Error("the second connection shook hands in full")
	}
}

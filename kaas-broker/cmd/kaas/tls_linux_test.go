package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// selfSigned is a certificate for the loopback address and its key, both in PEM, and a pool that trusts it.
func selfSigned(t *testing.T) (certificate, key string, trusted *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(certificate))
	return certificate, key, trusted
}

// startEncrypted starts kaas with a plaintext and a TLS listener, and returns the address of the latter.
func startEncrypted(t *testing.T, settings ...string) (p *process, address string) {
	t.Helper()
	arguments := []string{"--listeners", "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"}
	for _, setting := range settings {
		arguments = append(arguments, "--override", setting)
	}
	p = start(t, arguments...)
	var started struct{ Listeners map[string]string }
	if err := json.Unmarshal([]byte(p.await(t, "kaas started")), &started); err != nil {
		t.Fatal(err)
	}
	return p, started.Listeners["SSL"]
}

// A client of the TLS listener is told the address of that listener, and both doors lead to the same records.
func TestEncryptedListener(t *testing.T) {
	t.Parallel()
	certificate, key, trusted := selfSigned(t)
	dir := t.TempDir()
	certificateFile, keyFile, both := filepath.Join(dir, "broker.crt"), filepath.Join(dir, "broker.key"), filepath.Join(dir, "broker.pem")
	write(t, certificateFile, certificate)
	write(t, keyFile, key)
	write(t, both, key+certificate)
	for name, settings := range map[string][]string{
		"two files":         {"kaas.ssl.certificate.file=" + certificateFile, "kaas.ssl.key.file=" + keyFile},
		"Kafka's key store": {"ssl.keystore.type=PEM", "ssl.keystore.location=" + both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, address := startEncrypted(t, settings...)
			produce(t, newClient(t, address, kgo.DialTLSConfig(&tls.Config{RootCAs: trusted})), "orders", numbers(0, 10)...)
			if got := contents(t, p.address, "orders"); !slices.Equal(got, numbers(0, 10)) {
				t.Errorf("read %q", got)
			}
			p.stop(t)
		})
	}
}

// A replaced certificate is served without a restart.
func TestReplacedCertificate(t *testing.T) {
	t.Parallel()
	certificate, key, trusted := selfSigned(t)
	dir := t.TempDir()
	certificateFile, keyFile := filepath.Join(dir, "broker.crt"), filepath.Join(dir, "broker.key")
	write(t, certificateFile, certificate)
	write(t, keyFile, key)
	p, address := startEncrypted(t, "kaas.ssl.certificate.file="+certificateFile, "kaas.ssl.key.file="+keyFile)
	certificate, key, replaced := selfSigned(t)
	if err := shakeHands(t, address, trusted); err != nil {
		t.Fatal(err)
	}
	if err := shakeHands(t, address, replaced); err == nil {
		t.Fatal("a certificate is served that nobody has written yet")
	}
	write(t, certificateFile, certificate)
	write(t, keyFile, key)
	eventually(t, "the new certificate", func() bool { return shakeHands(t, address, replaced) == nil })
	p.stop(t)
}

func shakeHands(t *testing.T, address string, trusted *x509.CertPool) error {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: trusted}}
	connection, err := dialer.DialContext(within(t), "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

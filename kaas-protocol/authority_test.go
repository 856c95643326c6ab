package protocol_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// authority signs certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// issued is a certificate with its key, in PEM.
type issued struct{ certificate, key, authority []byte }

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key}
}

// issue makes a certificate that serves as server's and as client's.
func (a *authority) issue(t testing.TB, name string) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return issued{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		authority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}),
	}
}

// write puts the files into a directory, over those that are there.
func (i issued) write(t testing.TB, directory string) *protocol.TLSConfig {
	t.Helper()
	config := &protocol.TLSConfig{
		CertFile:     filepath.Join(directory, "tls.crt"),
		KeyFile:      filepath.Join(directory, "tls.key"),
		ClientCAFile: filepath.Join(directory, "ca.crt"),
	}
	for name, content := range map[string][]byte{config.CertFile: i.certificate, config.KeyFile: i.key, config.ClientCAFile: i.authority} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func (i issued) pair(t testing.TB) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(i.certificate, i.key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// dialTLS connects to the listener SSL, without checking the server's certificate.
func dialTLS(t testing.TB, server *protocol.Server, config *tls.Config) *client {
	t.Helper()
	if config == nil {
		config = &tls.Config{}
	}
	config.InsecureSkipVerify = true // the tests compare certificates themselves
	conn, err := tls.Dial("tcp", server.Addr("SSL").String(), config)
	if err != nil {
		t.Fatal(err)
	}
	return wrap(t, conn)
}

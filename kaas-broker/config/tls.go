package config

import (
	"fmt"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// tls finds the files of a TLS listener: kaas's own keys first, then Kafka's key stores in PEM form.
func (b *builder) tls(listener string) *TLS {
	files := &TLS{
		CertFile:   b.listenerText(listener, keyCertificateFile),
		KeyFile:    b.listenerText(listener, keyPrivateKeyFile),
		ClientAuth: ClientAuth(b.listenerText(listener, "ssl.client.auth")),
	}
	if store := b.store(listener, "ssl.keystore"); store != "" && files.CertFile == "" && files.KeyFile == "" {
		files.CertFile, files.KeyFile = store, store
	}
	if files.CertFile == "" || files.KeyFile == "" {
		b.rejectListenerf("%s needs TLS files: set %s and %s, or ssl.keystore.type=PEM and ssl.keystore.location",
			listener, keyCertificateFile, keyPrivateKeyFile)
	}
	b.refuseInline(listener)
	if files.ClientAuth == ClientAuthNone {
		return files
	}
	if files.ClientCAFile = b.listenerText(listener, keyClientCAFile); files.ClientCAFile == "" {
		files.ClientCAFile = b.store(listener, "ssl.truststore")
	}
	if files.ClientCAFile == "" {
		b.rejectListenerf("%s asks for client certificates: set %s to the authorities that sign them", listener, keyClientCAFile)
	}
	return files
}

// store returns the location of a key or trust store, which must be PEM.
func (b *builder) store(listener, prefix string) string {
	location := b.listenerText(listener, prefix+".location")
	if location == "" {
		return ""
	}
	if kind := b.listenerText(listener, prefix+".type"); !strings.EqualFold(kind, "PEM") {
		key := b.listenerKey(listener, prefix+".location")
		b.reject(b.origin(key), fmt.Errorf("%w: %s of type %s; convert it to PEM, for example with openssl pkcs12 -nodes, and set %s.type=PEM",
			ErrNotServed, key, kind, prefix))
	}
	return location
}

// refuseInline refuses secrets in the configuration itself: files can be replaced while the broker runs.
func (b *builder) refuseInline(listener string) {
	for _, name := range []string{"ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.certificates", "ssl.key.password"} {
		if b.listenerText(listener, name) == "" {
			continue
		}
		key := b.listenerKey(listener, name)
		b.reject(b.origin(key), fmt.Errorf("%w: %s; write an unencrypted PEM file and name it", ErrNotServed, key))
	}
}

// listenerValue returns what was set for this listener alone.
func (b *builder) listenerValue(listener, key string) (configdef.Value, bool) {
	value, ok := b.values.given[listenerPrefix+strings.ToLower(listener)+"."+key]
	return value, ok
}

// listenerText returns what holds for a listener: its own value, else the one for all.
func (b *builder) listenerText(listener, key string) string {
	if value, ok := b.listenerValue(listener, key); ok {
		return value.Text()
	}
	return b.values.value(key).Text()
}

// listenerKey is the name under which listenerText found its value.
func (b *builder) listenerKey(listener, key string) string {
	own := listenerPrefix + strings.ToLower(listener) + "." + key
	if _, ok := b.values.given[own]; ok {
		return own
	}
	return key
}

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

func describe(listeners []config.Listener) string {
	var parts []string
	for _, l := range listeners {
		parts = append(parts, fmt.Sprintf("%s=%s %s as %s:%d", l.Name, l.Address(), l.Protocol, l.AdvertisedHost, l.AdvertisedPort))
	}
	return strings.Join(parts, "; ")
}

const tlsFiles = "kaas.ssl.certificate.file=c.pem\nkaas.ssl.key.file=k.pem\n"

func TestListeners(t *testing.T) {
	cases := []struct {
		name, file string
		want       string
	}{
		{"one", "listeners=PLAINTEXT://10.0.0.1:1", "PLAINTEXT=10.0.0.1:1 PLAINTEXT as 10.0.0.1:1"},
		{"two", "listeners=PLAINTEXT://a:1, SSL://b:2\n" + tlsFiles, "PLAINTEXT=a:1 PLAINTEXT as a:1; SSL=b:2 SSL as b:2"},
		{
			"names by the map", "listeners=inside://a:1,outside://a:2\nlistener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:ssl\n" + tlsFiles,
			"INSIDE=a:1 PLAINTEXT as a:1; OUTSIDE=a:2 SSL as a:2",
		},
		{"all addresses", "listeners=PLAINTEXT://:1", "PLAINTEXT=:1 PLAINTEXT as machine:1"},
		{"advertised", "listeners=PLAINTEXT://0.0.0.0:1\nadvertised.listeners=plaintext://broker.example.com:443", "PLAINTEXT=0.0.0.0:1 PLAINTEXT as broker.example.com:443"},
		{"IPv6", "listeners=PLAINTEXT://[::1]:1\nadvertised.listeners=PLAINTEXT://[fe80::1%eth0]:2", "PLAINTEXT=[::1]:1 PLAINTEXT as fe80::1%eth0:2"},
		{
			"one of two advertised", "listeners=A://h:1,B://h:2\nadvertised.listeners=B://x:3\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT",
			"A=h:1 PLAINTEXT as h:1; B=h:2 PLAINTEXT as x:3",
		},
		{"one port on two addresses", "listeners=A://h:1,B://i:1\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT", "A=h:1 PLAINTEXT as h:1; B=i:1 PLAINTEXT as i:1"},
		{"free ports", "listeners=A://h:0,B://h:0\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT", "A=h:0 PLAINTEXT as h:0; B=h:0 PLAINTEXT as h:0"},
		{"array", `listeners=[{"name":"plain","port":9092,"type":"internal","tls":false,"authentication":{"type":"none"}},` +
			`{"name":"external","port":9093,"tls":true,"enabled":false},{"name":"secure","port":9094,"tls":true,"host":"h"}]` + "\n" + tlsFiles +
			"advertised.listeners=PLAIN://kaas-0.kaas:9092", "plain=:9092 PLAINTEXT as kaas-0.kaas:9092; secure=h:9094 SSL as h:9094"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(load(t, nil, nil, c.file).Listeners); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestListenersByVariable(t *testing.T) {
	c := load(t, nil, []string{`KAAS_LISTENERS=[{"name":"plain","port":9192}]`, "KAAS_ADVERTISED_LISTENERS=plain://h:1"}, "")
	if got := describe(c.Listeners); got != "plain=:9192 PLAINTEXT as h:1" {
		t.Error(got)
	}
	entries := c.Values.Describe([]string{"listeners"})
	if *entries[0].Value != "plain://:9192" {
		t.Errorf("described as %s", *entries[0].Value)
	}
	if l, ok := c.Listener("PLAIN"); !ok || l.Port != 9192 {
		t.Errorf("found %+v, %v", l, ok)
	}
}

func TestBadListeners(t *testing.T) {
	cases := []struct {
		name, file string
		want       []string
	}{
		{
			"forms", "listeners=PLAINTEXT:9092,://a:1,PLAINTEXT://a:b,PLAINTEXT://::1:2",
			[]string{`got "PLAINTEXT:9092"`, `got "://a:1"`, `got "PLAINTEXT://a:b"`, `got "PLAINTEXT://::1:2"`},
		},
		{"port", "listeners=PLAINTEXT://a:65536", []string{"port 65536"}},
		{"empty", "listeners=", []string{`got ""`}},
		{"one name twice", "listeners=PLAINTEXT://a:1,plaintext://a:2", []string{"two are named PLAINTEXT"}},
		{"one port twice", "listeners=A://h:1,B://:1\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT", []string{"A and B both bind port 1"}},
		{"no protocol", "listeners=A://h:1", []string{"A://h:1 has no protocol in listener.security.protocol.map"}},
		{"wrong protocol", "listener.security.protocol.map=A:PLAIN", []string{"Invalid value A:PLAIN for configuration listener.security.protocol.map"}},
		{"SASL", "listeners=SASL_PLAINTEXT://h:1", []string{"not served by this version: protocol SASL_PLAINTEXT of listener SASL_PLAINTEXT"}},
		{"only for controllers", "listeners=C://h:1\ncontroller.listener.names=C", []string{"none is left"}},
		{"advertised of nothing", "advertised.listeners=SSL://h:1", []string{"server.properties:1: bad listener: SSL://h:1 is not among the listeners"}},
		{"advertised twice", "advertised.listeners=PLAINTEXT://h:1,PLAINTEXT://i:1", []string{"two advertise PLAINTEXT"}},
		{"advertised to nowhere", "advertised.listeners=PLAINTEXT://0.0.0.0:1", []string{"clients cannot connect to PLAINTEXT://0.0.0.0:1"}},
		{"array", "listeners=[{]", []string{"read the JSON array"}},
		{"array without a port", `listeners=[{"name":"a"},{"port":1},{"name":"b","port":70000}]`, []string{"element 0", "element 1", "element 2"}},
		{"array with authentication", `listeners=[{"name":"a","port":1,"authentication":{"type":"scram-sha-512"}}]`, []string{"not served by this version: authentication scram-sha-512 of listener a"}},
		{"TLS without files", "listeners=SSL://h:1", []string{"SSL needs TLS files"}},
		{"Java key store", "listeners=SSL://h:1\nssl.keystore.location=a.jks", []string{"server.properties:2: not served by this version: ssl.keystore.location of type JKS"}},
		{"key in the configuration", "listeners=SSL://h:1\n" + tlsFiles + "ssl.keystore.key=secret", []string{"not served by this version: ssl.keystore.key"}},
		{"client certificates without authorities", "listeners=SSL://h:1\nssl.client.auth=required\n" + tlsFiles, []string{"SSL asks for client certificates"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(input([]string{"--config=server.properties"}, nil, c.file))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the secret is in the message: %v", err)
			}
		})
	}
}

func TestTLSFiles(t *testing.T) {
	cases := []struct {
		name, file string
		want       config.TLS
	}{
		{"own keys", tlsFiles, config.TLS{CertFile: "c.pem", KeyFile: "k.pem", ClientAuth: config.ClientAuthNone}},
		{
			"Kafka's keys", "ssl.keystore.type=pem\nssl.keystore.location=s.pem\nssl.truststore.type=PEM\nssl.truststore.location=t.pem\nssl.client.auth=required",
			config.TLS{CertFile: "s.pem", KeyFile: "s.pem", ClientCAFile: "t.pem", ClientAuth: config.ClientAuthRequired},
		},
		{
			"of one listener", tlsFiles + "listener.name.SSL.kaas.ssl.certificate.file=own.pem\nlistener.name.ssl.ssl.client.auth=requested\nkaas.ssl.client.ca.file=ca.pem",
			config.TLS{CertFile: "own.pem", KeyFile: "k.pem", ClientCAFile: "ca.pem", ClientAuth: config.ClientAuthRequested},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := load(t, nil, nil, "listeners=SSL://h:1\n"+c.file)
			if got.Listeners[0].TLS == nil || *got.Listeners[0].TLS != c.want {
				t.Errorf("got %+v, want %+v", got.Listeners[0].TLS, c.want)
			}
			if len(got.Warnings) != 0 {
				t.Errorf("warnings %v", got.Warnings)
			}
		})
	}
}

func TestLimitsOfOneListener(t *testing.T) {
	c := load(t, nil, nil, "max.connections=9\nlistener.name.plaintext.max.connections=5\nlistener.name.plaintext.max.connection.creation.rate=2\n"+
		"listener.name.plaintext.scram-sha-256.sasl.jaas.config=x")
	if l := c.Listeners[0]; l.MaxConnections != 5 || l.MaxConnectionCreationRate != 2 || c.Network.MaxConnections != 9 {
		t.Errorf("listener %+v, network %+v", l, c.Network)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Key, "jaas") {
		t.Errorf("warnings %v", c.Warnings)
	}
}

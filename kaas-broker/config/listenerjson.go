package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// jsonListener is one element of the array that the chart writes into KAAS_LISTENERS. Fields that concern the cluster
// around the broker are not read.
type jsonListener struct {
	Name string `json:"name"`
	// Port is nil when it is missing.
	Port           *int   `json:"port"`
	Host           string `json:"host"`
	TLS            bool   `json:"tls"`
	Enabled        *bool  `json:"enabled"`
	Authentication struct {
		Type string `json:"type"`
	} `json:"authentication"`
}

// parseJSONListeners reads the array form of listeners, disabled ones left out. They bind all addresses unless they
// name a host.
func (b *builder) parseJSONListeners(text string) []Listener {
	var elements []jsonListener
	if err := json.Unmarshal([]byte(text), &elements); err != nil {
		b.rejectListenerf("read the JSON array: %v", err)
		return nil
	}
	var listeners []Listener
	for i, element := range elements {
		if element.Enabled != nil && !*element.Enabled {
			continue
		}
		if element.Name == "" || element.Port == nil || *element.Port < 0 || *element.Port > 65535 {
			b.rejectListenerf("element %d needs a name and a port in 0 to 65535", i)
			continue
		}
		if kind := element.Authentication.Type; kind != "" && kind != "none" {
			b.reject(b.origin("listeners"), fmt.Errorf("%w: authentication %s of listener %s", ErrNotServed, kind, element.Name))
			continue
		}
		listener := Listener{Name: element.Name, Host: element.Host, Port: *element.Port, Protocol: ProtocolPlaintext}
		if element.TLS {
			listener.Protocol = ProtocolSSL
		}
		listeners = append(listeners, listener)
	}
	return listeners
}

// isJSON tells the array form from Kafka's notation.
func isJSON(text string) bool { return strings.HasPrefix(text, "[") }

package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ErrListener means that a listener is malformed or contradicts another.
var ErrListener = errors.New("bad listener")

// endpoint is one NAME://HOST:PORT.
type endpoint struct {
	name string
	host string
	port int
}

func (e endpoint) String() string {
	host := e.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return e.name + "://" + host + ":" + strconv.Itoa(e.port)
}

var endpointForm = regexp.MustCompile(`^([A-Za-z0-9_.-]+)://(\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]|[A-Za-z0-9_.-]*):([0-9]+)$`)

// parseEndpoints reads Kafka's list of listeners. Names come out in upper case, as Kafka compares them. Every bad element
// is in the error, which wraps ErrListener.
func parseEndpoints(text string) ([]endpoint, error) {
	var endpoints []endpoint
	var problems []error
	for _, element := range strings.Split(text, ",") {
		element = strings.TrimSpace(element)
		match := endpointForm.FindStringSubmatch(element)
		if match == nil {
			problems = append(problems, fmt.Errorf("%w: want NAME://HOST:PORT, got %q", ErrListener, element))
			continue
		}
		port, err := strconv.ParseUint(match[3], 10, 16)
		if err != nil {
			problems = append(problems, fmt.Errorf("%w: port %s of %q is not in 0 to 65535", ErrListener, match[3], element))
			continue
		}
		endpoints = append(endpoints, endpoint{strings.ToUpper(match[1]), strings.Trim(match[2], "[]"), int(port)})
	}
	return endpoints, errors.Join(problems...)
}

// wildcard reports whether the host stands for all addresses of the machine.
func wildcard(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

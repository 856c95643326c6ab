package broker

import (
	"net"
	"strconv"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// protocol describes the Kafka server: its listeners, its limits and what it answers.
func (b *Broker) protocol() protocol.Config {
	handlers := api.New(api.Deps{
		Catalog:      b.catalog,
		Partitions:   b.partitions,
		Topics:       b.topics,
		Groups:       b.groups,
		Transactions: b.groups,
		ProducerIDs:  b.producerIDs,

		Verifications: b.meters.verifications,
		Reasons:       b.meters.reasons,
		Broker: api.Identity{
			ClusterID:  b.ClusterID(),
			NodeID:     b.config.BrokerID,
			Rack:       b.config.Rack,
			Advertised: b.advertised,
		},
		Config:    b.config,
		Tripwires: b.tripwires,
		Logger:    b.log,
	})
	table := handlers.Table()
	if wrap := b.options.WrapAPI; wrap != nil {
		for i := range table {
			table[i] = wrap(table[i])
		}
	}
	c := protocol.Config{APIs: table, Limits: limits(b.config.Network), Logger: b.log, MeterProvider: b.options.MeterProvider}
	for _, l := range b.config.Listeners {
		served := listener(l)
		served.Open = b.addresses.open(l.Name)
		c.Listeners = append(c.Listeners, served)
	}
	return c
}

// Advertised is where clients of a listener are sent, as host:port; empty for an unknown name.
func (b *Broker) Advertised(listener string) string {
	host, port := b.advertised(listener)
	if port < 0 {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// advertised is where clients of a listener are sent. A listener on a free port advertises the port it got.
func (b *Broker) advertised(name string) (host string, port int32) {
	l, known := b.config.Listener(name)
	if !known {
		return "", -1
	}
	if l.AdvertisedPort != 0 {
		return l.AdvertisedHost, int32(l.AdvertisedPort)
	}
	_, bound, err := net.SplitHostPort(b.server.Addr(l.Name).String())
	if err != nil {
		return l.AdvertisedHost, -1
	}
	number, err := strconv.ParseInt(bound, 10, 32)
	if err != nil {
		return l.AdvertisedHost, -1
	}
	return l.AdvertisedHost, int32(number)
}

func listener(l config.Listener) protocol.Listener {
	p := protocol.Listener{
		Name:           l.Name,
		Address:        l.Address(),
		MaxConnections: l.MaxConnections,
		ConnectionRate: float64(l.MaxConnectionCreationRate),
	}
	if l.TLS != nil {
		p.TLS = &protocol.TLSConfig{
			CertFile:     l.TLS.CertFile,
			KeyFile:      l.TLS.KeyFile,
			ClientCAFile: l.TLS.ClientCAFile,
			ClientAuth:   clientAuth(l.TLS.ClientAuth),
		}
	}
	return p
}

func clientAuth(c config.ClientAuth) protocol.ClientAuth {
	switch c {
	case config.ClientAuthRequired:
		return protocol.ClientAuthRequired
	case config.ClientAuthRequested:
		return protocol.ClientAuthRequested
	default:
		return protocol.ClientAuthNone
	}
}

func limits(n config.Network) protocol.Limits {
	l := protocol.Limits{
		MaxConnections:               n.MaxConnections,
		MaxConnectionsPerIP:          n.MaxConnectionsPerIP,
		MaxConnectionsPerIPOverrides: n.MaxConnectionsPerIPByHost,
		ConnectionRate:               float64(n.MaxConnectionCreationRate),
		MaxIdle:                      n.MaxIdle,
		MaxRequestBytes:              n.MaxRequestBytes,
		SendBufferBytes:              max(n.SendBufferBytes, 0),
	}
	if n.MaxConnectionsPerIP == 0 {
		l.MaxConnectionsPerIP = -1 // Kafka's 0: only addresses with an override of their own
	}
	if n.MaxQueuedBytes > 0 {
		l.TotalInFlightBytes = n.MaxQueuedBytes
	}
	return l
}

// Package brokertest runs a Kafka-compatible broker inside a Go test: no Docker, no Java, no fixture to clean up.
//
//	func TestOrders(t *testing.T) {
//		broker := brokertest.Start(t)
//		broker.CreateTopic("orders", 3, nil)
//		client, err := kgo.NewClient(kgo.SeedBrokers(broker.Bootstrap()...))
//		…
//	}
//
// It is the broker that `kaas` runs, with the same log engine, over a file system in memory: any Kafka client can connect, idempotent producers,
// fetch sessions and consumer groups included. Topics are also created when a client asks for one that does not exist, as Kafka does by default. A group
// begins with its first member; group.initial.rebalance.delay.ms sets how long it waits for others, which are three seconds in Kafka.
//
// # Trouble on demand
//
// [Broker.Intercept] makes the next requests of an API fail, wait or lose their connection, so that retries and timeouts of the code under test run
// for real. [Broker.HookFiles] does the same to the broker's file operations: a full disk, a failing sync. [Broker.Stop] and [Broker.Start] let a client
// live through a restart; records and topics are still there afterwards.
//
// # Life cycle
//
// Start returns when the broker serves. It ends with the test. What the broker logged appears in the output of a test that failed. All methods may be
// called concurrently, except Stop, Start and Restart.
//
// It works wherever Go does, Windows and macOS included.
package brokertest

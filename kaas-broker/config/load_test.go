package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// input is a Load without the machine it runs on.
func input(args, environ []string, file string) config.Input {
	return config.Input{
		Args: args, Environ: environ,
		ReadFile: func(path string) ([]byte, error) {
			if path != "server.properties" {
				return nil, fs.ErrNotExist
			}
			return []byte(file), nil
		},
		Hostname: func() (string, error) { return "machine", nil },
	}
}

func load(t *testing.T, args, environ []string, file string) *config.Config {
	t.Helper()
	if file != "" {
		args = append([]string{"--config", "server.properties"}, args...)
	}
	c, err := config.Load(input(args, environ, file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, nil, nil, "")
	if c.Mode != config.ModeDev || c.DataDir != "" || c.ClusterDir != "" || c.BrokerID != 0 || c.Rack != "" {
		t.Errorf("identity %+v", c)
	}
	if len(c.Listeners) != 1 || c.Listeners[0].Address() != "127.0.0.1:9092" || c.Listeners[0].AdvertisedHost != "127.0.0.1" ||
		c.Listeners[0].AdvertisedPort != 9092 || c.Listeners[0].Protocol != config.ProtocolPlaintext || c.Listeners[0].TLS != nil {
		t.Errorf("listeners %+v", c.Listeners)
	}
	if c.Health != (config.Health{Address: "127.0.0.1:8080", MayMove: true}) {
		t.Errorf("health %+v", c.Health)
	}
	if c.Log != (config.Log{Level: "info", Format: "auto"}) {
		t.Errorf("log %+v", c.Log)
	}
	if c.Topics != (config.Topics{AutoCreate: true, DeleteEnabled: true, Partitions: 1}) {
		t.Errorf("topics %+v", c.Topics)
	}
	if c.Fetch != (config.Fetch{MaxBytes: 57671680, SessionSlots: 1000}) {
		t.Errorf("fetch %+v", c.Fetch)
	}
	if c.Storage != (config.Storage{
		RetentionInterval: 5 * time.Minute, CompactionInterval: 15 * time.Second, CompactionMemory: 16 << 20, FsyncDeadline: 30 * time.Second, ReserveBytes: 16 << 20,
	}) {
		t.Errorf("storage %+v", c.Storage)
	}
	if c.Network.MaxRequestBytes != 104857600 || c.Network.MaxIdle != 10*time.Minute || c.Network.MaxConnections != 2147483647 ||
		c.Network.MaxQueuedBytes != -1 || c.Network.SendBufferBytes != 262144 {
		t.Errorf("network %+v", c.Network)
	}
	if c.ProducerIDExpiration != 24*time.Hour || len(c.Warnings) != 0 {
		t.Errorf("%s, warnings %v", c.ProducerIDExpiration, c.Warnings)
	}
}

func TestEachSourceAndPrecedence(t *testing.T) {
	rack := func(c *config.Config) string { return c.Rack }
	directory := func(c *config.Config) string { return string(c.Mode) + " " + c.DataDir + " " + c.ClusterDir }
	cases := []struct {
		name string
		args []string
		env  []string
		file string
		got  func(*config.Config) string
		want string
	}{
		{"file", nil, nil, "broker.rack=a", rack, "a"},
		{"variable over file", nil, []string{"KAAS_BROKER_RACK=b"}, "broker.rack=a", rack, "b"},
		{"flag over variable", []string{"--override", "broker.rack=c"}, []string{"KAAS_BROKER_RACK=b"}, "broker.rack=a", rack, "c"},
		{"last override", []string{"--override", "broker.rack=c", "--override=broker.rack=d"}, nil, "", rack, "d"},
		{"an empty variable is not set", nil, []string{"KAAS_BROKER_RACK="}, "broker.rack=a", rack, "a"},
		{"blanks are dropped", nil, nil, "broker.rack = a\\u0020 ", rack, "a"},

		{"data directory by flag", []string{"--data-dir", "/d/"}, nil, "", directory, "single /d /d/__cluster"},
		{"by variable", nil, []string{"KAAS_DATA_DIR=/d"}, "", directory, "single /d /d/__cluster"},
		{"by Kafka's key", nil, nil, "log.dirs=/d", directory, "single /d /d/__cluster"},
		{"by Kafka's older key", nil, nil, "log.dir=/e", directory, "single /e /e/__cluster"},
		{"the newer key counts", nil, nil, "log.dir=/e\nlog.dirs=/d", directory, "single /d /d/__cluster"},
		{"flag over Kafka's key", []string{"--data-dir=/d"}, nil, "log.dirs=/e,/f", directory, "single /d /d/__cluster"},
		{"Kafka's key in a variable over the file", nil, []string{"KAAS_LOG_DIRS=/d"}, "kaas.data.dir=/e", directory, "single /d /d/__cluster"},
		{"cluster directory by flag", []string{"--data-dir=/d", "--cluster-dir=/c"}, []string{"KAAS_CLUSTER_DIR=/x"}, "", directory, "single /d /c"},
		{"cluster directory by variable", []string{"--data-dir=/d"}, []string{"KAAS_CLUSTER_DIR=/x/"}, "", directory, "single /d /x"},

		{
			"hours in a flag over milliseconds in the file",
			[]string{"--override=log.retention.hours=1"},
			nil, "log.retention.ms=5",
			func(c *config.Config) string { return strconv.FormatBool(c.Values.Set("log.retention.ms")) }, "false",
		},
		{
			"flush interval", nil,
			[]string{"KAAS_FLUSH_INTERVAL_MESSAGES=7"},
			"log.flush.interval.messages=9",
			func(c *config.Config) string { v, _ := c.Values.Lookup("log.flush.interval.messages"); return v.Text() }, "7",
		},
		{
			"log flags",
			[]string{"--log-level=debug"},
			[]string{"KAAS_LOG_LEVEL=warn", "KAAS_LOG_FORMAT=json"},
			"",
			func(c *config.Config) string { return c.Log.Level + " " + c.Log.Format }, "debug json",
		},
		{
			"health by variable", nil,
			[]string{"KAAS_HEALTH_ADDR=:8081"},
			"",
			func(c *config.Config) string { return fmt.Sprint(c.Health) }, "{:8081 false false}",
		},
		{
			"health port alone",
			[]string{"--health-addr", "8082"},
			nil, "",
			func(c *config.Config) string { return fmt.Sprint(c.Health) }, "{127.0.0.1:8082 false false}",
		},
		{
			"no health",
			[]string{"--health-addr", "off"},
			nil, "",
			func(c *config.Config) string { return fmt.Sprint(c.Health) }, "{ false false}",
		},
		{
			"health of a single broker stays",
			[]string{"--data-dir=/d"},
			nil, "",
			func(c *config.Config) string { return fmt.Sprint(c.Health) }, "{127.0.0.1:8080 false false}",
		},
		{
			"profiles",
			[]string{"--health-addr=8082", "--override", "kaas.debug.pprof=true"},
			nil, "",
			func(c *config.Config) string { return fmt.Sprint(c.Health) }, "{127.0.0.1:8082 false true}",
		},
		{"compaction", nil, nil, "log.cleaner.backoff.ms=7\nlog.cleaner.dedupe.buffer.size=2000000", compaction, "7ms 2000000"},
		{"compaction without a pause", nil, nil, "log.cleaner.backoff.ms=0", compaction, "1ms 16777216"},
		{"no compaction", nil, nil, "log.cleaner.enable=false\nlog.cleaner.backoff.ms=7", compaction, "-1ns 16777216"},
		{"broker id", nil, nil, "broker.id=7", func(c *config.Config) string { return strconv.Itoa(int(c.BrokerID)) }, "7"},
		{"node id", nil, nil, "node.id=8", func(c *config.Config) string { return strconv.Itoa(int(c.BrokerID)) }, "8"},
		{"both alike", nil, nil, "node.id=8\nbroker.id=8", func(c *config.Config) string { return strconv.Itoa(int(c.BrokerID)) }, "8"},
		{"chosen for me", nil, nil, "broker.id=-1", func(c *config.Config) string { return strconv.Itoa(int(c.BrokerID)) }, "0"},
		{"node id in a flag over broker id", []string{"--override=node.id=3"}, nil, "broker.id=8", func(c *config.Config) string { return strconv.Itoa(int(c.BrokerID)) }, "3"},
		{"file named by a variable", nil, []string{"KAAS_CONFIG=server.properties"}, "", rack, ""},
		{
			"limits per address", nil, nil, "max.connections.per.ip.overrides=host:1,[::1]:2",
			func(c *config.Config) string { return fmt.Sprint(c.Network.MaxConnectionsPerIPByHost) }, "map[::1:2 host:1]",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.got(load(t, c.args, c.env, c.file)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// compaction tells what the log engine is given.
func compaction(c *config.Config) string {
	return fmt.Sprint(c.Storage.CompactionInterval, " ", c.Storage.CompactionMemory)
}

func TestProblems(t *testing.T) {
	cases := []struct {
		name string
		args []string
		env  []string
		file string
		want []string
	}{
		{"unknown key", nil, nil, "\nnum.partitons=3", []string{"server.properties:2: Unknown broker config name: num.partitons (did you mean num.partitions?)"}},
		{"unknown override", []string{"--override", "retention=3"}, nil, "", []string{"flag --override: Unknown broker config name: retention"}},
		{"unknown flag", []string{"--data-dirs", "/d", "--log-level=debug"}, nil, "", []string{"flag --data-dirs: bad argument: unknown flag (did you mean --data-dir?)"}},
		{"property as flag", []string{"--message.max.bytes=3"}, nil, "", []string{"flag --message.max.bytes: bad argument: unknown flag; a property is set with --override message.max.bytes=VALUE"}},
		{"override without value", []string{"--override", "broker.rack"}, nil, "", []string{`flag --override: bad argument: want KEY=VALUE, got "broker.rack"`}},
		{"stray argument", []string{"server.properties"}, nil, "", []string{`unexpected argument "server.properties"`}},
		{"flag without its value", []string{"--data-dir"}, nil, "", []string{"--data-dir"}},
		{"invalid value", nil, []string{"KAAS_MESSAGE_MAX_BYTES=many"}, "", []string{"variable KAAS_MESSAGE_MAX_BYTES: Invalid value many for configuration message.max.bytes: Not a number of type INT"}},
		{"invalid value of an ignored key", nil, nil, "num.network.threads=x", []string{"server.properties:1: Invalid value x for configuration num.network.threads"}},
		{"two directories by flag", []string{"--data-dir", "/a,/b"}, nil, "", []string{"flag --data-dir: Invalid value /a,/b for configuration kaas.data.dir: One data directory is supported, without a comma in its name"}},
		{"two directories", nil, nil, "log.dirs=/a,/b", []string{"server.properties:1: Invalid value /a,/b for configuration log.dirs: One data directory is supported"}},
		{"no directory at all", []string{"--data-dir", ""}, nil, "", []string{"flag --data-dir: Invalid value  for configuration kaas.data.dir: A directory must be named"}},
		{"directories that differ", nil, []string{"KAAS_DATA_DIR=/a", "KAAS_LOG_DIRS=/b"}, "", []string{"variable KAAS_DATA_DIR: contradicting settings: kaas.data.dir and log.dirs name different directories"}},
		{"cluster directory alone", []string{"--cluster-dir", "/c"}, nil, "", []string{"flag --cluster-dir", "needs a data directory"}},
		{"ids that differ", nil, nil, "broker.id=1\nnode.id=2", []string{"server.properties:2: contradicting settings: node.id is 2 and broker.id is 1"}},
		{"flag against override", []string{"--listeners", "PLAINTEXT://:1", "--override", "listeners=PLAINTEXT://:2"}, nil, "", []string{"flag --listeners: contradicting settings"}},
		{"variables of one key", nil, []string{"KAAS_FLUSH_INTERVAL_MESSAGES=1", "KAAS_LOG_FLUSH_INTERVAL_MESSAGES=2"}, "", []string{"contradicting settings: KAAS_FLUSH_INTERVAL_MESSAGES sets log.flush.interval.messages too"}},
		{"too little for the keys", nil, nil, "log.cleaner.dedupe.buffer.size=1048576", []string{"Invalid value 1048576 for configuration log.cleaner.dedupe.buffer.size: Value must be at least 1048577"}},
		{"missing file", []string{"--config", "nowhere"}, nil, "", []string{"flag --config: read properties: file does not exist"}},
		{"malformed file", nil, nil, "a=\\u12", []string{"server.properties:1: malformed properties"}},
		{"health address", []string{"--health-addr", "8080x"}, nil, "", []string{"flag --health-addr: Invalid value 8080x for configuration kaas.health.addr"}},
		{"log level", []string{"--log-level", "loud"}, nil, "", []string{"flag --log-level: Invalid value loud for configuration kaas.log.level: String must be one of: trace, debug, info, warn, error"}},
		{"authorizer", nil, nil, "authorizer.class.name=x.Y", []string{"server.properties:1: not served by this version: authorizer.class.name"}},
		{"authorization by variable", nil, []string{"KAAS_AUTHORIZATION_TYPE=simple", "KAAS_REQUIRE_SASL=true"}, "", []string{"variable KAAS_AUTHORIZATION_TYPE: not served", "variable KAAS_REQUIRE_SASL: not served"}},
		{"cluster", nil, []string{"MY_POD_NAME=kaas-0"}, "", []string{"variable MY_POD_NAME: not served"}},
		{"limits per address", nil, nil, "max.connections.per.ip.overrides=host", []string{"Entries must be HOST:COUNT"}},
		{"retention of nothing", nil, nil, "log.retention.ms=0", []string{"log.retention.ms: Value must be -1 (no limit) or at least 1"}},
		{
			"everything at once",
			[]string{"--override", "num.partitions=0", "--nope"},
			[]string{"KAAS_BROKER_ID=-7"},
			"no.such=1\nfetch.max.bytes=1\n",
			[]string{
				"5 problems", "server.properties:1: Unknown", "server.properties:2: Invalid value 1 for configuration fetch.max.bytes",
				"variable KAAS_BROKER_ID: Invalid value -7", "flag --nope", "flag --override: Invalid value 0 for configuration num.partitions",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.file != "" {
				c.args = append([]string{"--config=server.properties"}, c.args...)
			}
			got, err := config.Load(input(c.args, c.env, c.file))
			var problems *config.ProblemsError
			if !errors.As(err, &problems) || got != nil {
				t.Fatalf("config %v, error %v", got, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if c.name != "everything at once" && len(problems.Problems) != len(c.want) && c.name != "cluster directory alone" {
				t.Errorf("%d problems, want %d:\n%v", len(problems.Problems), len(c.want), err)
			}
		})
	}
}

func TestProblemsComeLayerByLayer(t *testing.T) {
	_, err := config.Load(input([]string{"--nope", "--config=server.properties"}, []string{"KAAS_BROKER_ID=x"}, "b=1\na=1"))
	var problems *config.ProblemsError
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var origins []string
	for _, problem := range problems.Problems {
		origins = append(origins, problem.Origin.String())
	}
	const want = "server.properties:1 server.properties:2 variable KAAS_BROKER_ID flag --nope"
	if got := strings.Join(origins, " "); got != want {
		t.Errorf("origins %q, want %q", got, want)
	}
}

func TestWarnings(t *testing.T) {
	cases := []struct {
		name string
		env  []string
		file string
		want []string
	}{
		{"ignored key", nil, "num.network.threads=3", []string{"server.properties:1: num.network.threads has no effect in kaas"}},
		{
			"ZooKeeper and controllers", nil, "zookeeper.connect=a:1\nzookeeper.sync.time.ms=2\nprocess.roles=broker,controller\ncontroller.quorum.voters=1@a:1\ncontroller.quorum.bootstrap.servers=a:1",
			[]string{"zookeeper.connect", "zookeeper.sync.time.ms", "process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers"},
		},
		{
			"undocumented keys of Kafka 3.7 and 4.3", nil, "server.max.startup.time.ms=1\nproducer.id.expiration.check.interval.ms=1\nunstable.api.versions.enable=true\n" +
				"unstable.metadata.versions.enable=true\nunstable.feature.versions.enable=true\nlog.initial.task.delay.ms=1\ninternal.metadata.delete.delay.millis=1",
			[]string{
				"server.max.startup.time.ms", "producer.id.expiration.check.interval.ms", "unstable.api.versions.enable",
				"unstable.metadata.versions.enable", "unstable.feature.versions.enable", "log.initial.task.delay.ms", "internal.metadata.delete.delay.millis",
			},
		},
		{"repeated key", nil, "broker.rack=a\n\nbroker.rack=b", []string{"server.properties:3: broker.rack replaces the value of line 1"}},
		{"misspelled variable", []string{"KAAS_DATADIR=/d"}, "", []string{"variable KAAS_DATADIR: KAAS_DATADIR is no variable of kaas and is ignored (did you mean KAAS_DATA_DIR?)"}},
		{"variables of later parts", []string{"KAAS_NAMESPACE=a", "KAAS_METRIC_EXPORT_INTERVAL=30s"}, "", []string{"KAAS_METRIC_EXPORT_INTERVAL", "KAAS_NAMESPACE"}},
		{"what Kubernetes adds is not mentioned", []string{
			"KAAS_SERVICE_HOST=1.2.3.4", "KAAS_SERVICE_PORT=9092", "KAAS_PORT=tcp://1.2.3.4:9092",
			"KAAS_PORT_9092_TCP_ADDR=1.2.3.4", "KAAS_BOOTSTRAP_SERVICE_PORT_PLAIN=9092", "HOME=/root", "KAAS_AUTH_DISABLED=true",
		}, "", nil},
		{"wildcard without an advertised address", nil, "listeners=PLAINTEXT://:9092", []string{"clients are told to connect to machine"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			warnings := load(t, nil, c.env, c.file).Warnings
			if len(warnings) != len(c.want) {
				t.Fatalf("%d warnings %v, want %d", len(warnings), warnings, len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(warnings[i].String(), want) {
					t.Errorf("warning %q lacks %q", warnings[i], want)
				}
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"--data-dir", "/d", "--help"}} {
		if _, err := config.Load(input(args, nil, "")); !errors.Is(err, config.ErrHelp) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := config.Load(input([]string{"--version"}, nil, "")); !errors.Is(err, config.ErrVersion) {
		t.Error(err)
	}
	usage := config.Usage()
	for _, flag := range []string{
		"--data-dir DIR", "--cluster-dir", "--listeners", "--advertised-listeners", "--config FILE",
		"--override KEY=VALUE", "--health-addr", "--log-level", "--log-format", "--version", "kaas --data-dir /var/lib/kaas",
	} {
		if !strings.Contains(usage, flag) {
			t.Errorf("usage lacks %q:\n%s", flag, usage)
		}
	}
}

func TestKafkasOwnFilesStart(t *testing.T) {
	files := map[string]string{
		"KRaft": `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
`,
		"ZooKeeper": `broker.id=1
listeners=PLAINTEXT://localhost:9092
log.dirs=/tmp/kraft-combined-logs
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=0
`,
		"4.x": `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
log.dirs=/tmp/kraft-combined-logs
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
`,
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			c := load(t, nil, nil, file)
			if c.BrokerID != 1 || c.DataDir != "/tmp/kraft-combined-logs" || len(c.Listeners) != 1 ||
				c.Listeners[0].AdvertisedHost != "localhost" || c.Listeners[0].AdvertisedPort != 9092 {
				t.Errorf("config %+v", c)
			}
			if len(c.Warnings) == 0 {
				t.Error("nothing was warned of")
			}
		})
	}
}

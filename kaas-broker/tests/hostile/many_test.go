package hostile

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// The many connections come from a process of their own, which is this test program with these variables: both ends of thousands of connections
// would not fit the descriptors of one process, nor would the client's memory be told from the broker's.
const (
	crowdAddress = "KAAS_HOSTILE_CROWD"
	crowdSize    = "KAAS_HOSTILE_CROWD_SIZE"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(crowdAddress); address != "" {
		size, _ := strconv.Atoi(os.Getenv(crowdSize))
		if err := crowd(address, size); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crowd opens connections, asks once on each, says that it is ready, and asks again on each when a line comes.
func crowd(address string, size int) error {
	connections := make([]*raw, size)
	for i := range connections {
		connection, err := connect(address)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		connections[i] = connection
		if _, err := connection.call(kmsg.NewPtrApiVersionsRequest(), 30*time.Second); err != nil {
			return fmt.Errorf("first answer on connection %d: %w", i, err)
		}
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i, connection := range connections {
		if _, err := connection.call(metadataRequest("beside"), 30*time.Second); err != nil {
			return fmt.Errorf("second answer on connection %d: %w", i, err)
		}
	}
	fmt.Println("done")
	return nil
}

// connectionBound is the memory of one connection that has nothing to do, kernel buffers left out.
const connectionBound = 30 << 10

func TestThousandsOfConnections(t *testing.T) {
	const size = 10_000
	broker := start(t, harness.Options{Mode: harness.Dev})
	w := watch(t, broker, size*2*connectionBound+100*mib)
	runBeside(t, broker.Bootstrap())
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Env = append(os.Environ(), crowdAddress+"="+broker.Bootstrap(), crowdSize+"="+strconv.Itoa(size))
	program.Stderr = os.Stderr
	input, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the clients say %q, want %q", lines.Text(), want)
		}
	}
	expect("ready")
	connected := time.Since(began)
	usage := broker.Usage(t)
	t.Logf("%d connections in %v: %v", size, connected.Round(time.Millisecond), usage)
	if each := (usage.Resident - w.before.Resident) / size; each > connectionBound {
		t.Errorf("%d bytes for a connection, the bound is %d", each, connectionBound)
	} else {
		t.Logf("%d bytes for each", each)
	}
	if _, err := input.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	expect("done")
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}

// More connections than there are descriptors: they wait, and the log still gets those that it needs.
func TestMoreConnectionsThanDescriptors(t *testing.T) {
	limited := filepath.Join(t.TempDir(), "kaas")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n 600\nexec '%s' \"$@\"\n", harness.Binary(t))
	if err := os.WriteFile(limited, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KAAS_BIN", limited)
	broker := start(t, harness.Options{})
	createTopic(t, broker.Bootstrap(), "before", 20)
	watch(t, broker, 100*mib)
	made := bomb(t, 0, 1000, 1)
	first := dial(t, broker.Bootstrap())
	for range 800 {
		_ = dial(t, broker.Bootstrap()).send(kmsg.NewPtrApiVersionsRequest())
	}
	time.Sleep(time.Second)
	codes := map[int16]int{}
	for number := range 40 {
		request := produceRequest(8, "before", -1, made)
		request.Topics[0].Partitions[0].Partition = int32(number % 20)
		response, err := first.call(request, 60*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		codes[response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode]++
	}
	if codes[0] != 40 {
		t.Errorf("an earlier client's appends are answered %v, want 40 without an error", codes)
	}
}

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// kafkaVersion is the Apache Kafka that is raced.
const kafkaVersion = "3.7.2"

// apacheLauncher runs Apache Kafka by the shared scripts, with the memory and garbage collector of Apache's own launcher.
type apacheLauncher struct {
	scripts   string   // folder with start.sh
	overrides []string // broker properties as key=value
}

// findScripts looks for start.sh in the folder of shared scripts.
func findScripts(root string) (string, error) {
	shared := os.Getenv("KAAS_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "..", "shared")
	}
	scripts := filepath.Join(shared, "kafka")
	if _, err := os.Stat(filepath.Join(scripts, "start.sh")); err != nil {
		return "", fmt.Errorf("find the scripts that start Apache Kafka (KAAS_SHARED names the folder that holds kafka/start.sh; -contestants kaas does without): %w", err)
	}
	return scripts, nil
}

func (a apacheLauncher) launch(dir, address string) (process, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	arguments := append([]string{dir, port}, a.overrides...)
	command := exec.Command(filepath.Join(a.scripts, "start.sh"), arguments...) //nolint:noctx // outlives the function; server ends the broker
	command.Env = append(os.Environ(), "KAFKA_VERSION="+kafkaVersion)
	logged := filepath.Join(dir, "start.log")
	log, err := os.Create(logged)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start Apache Kafka: %w", err)
	}
	p := &apacheProcess{dir: dir, logged: logged, script: make(chan struct{})}
	go func() {
		defer close(p.script)
		p.status = command.Wait()
	}()
	return p, nil
}

// apacheProcess is a broker that a script has put into the background.
type apacheProcess struct {
	dir    string
	logged string
	script chan struct{} // closed when the script has ended
	status error         // of the script, once it has ended
}

func (p *apacheProcess) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func (p *apacheProcess) failed() error {
	select {
	case <-p.script:
	default:
		return nil
	}
	if p.status == nil {
		return nil
	}
	return fmt.Errorf("start.sh: %w: %s", p.status, tail(p.logged))
}

// release also removes the note of the process: as long as nobody has waited for a process that has ended, start.sh takes it for running.
func (p *apacheProcess) release() {
	<-p.script
	_ = os.Remove(filepath.Join(p.dir, "pid"))
}

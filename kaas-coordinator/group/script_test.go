package group_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

var update = flag.Bool("update", false, "write what the machine answers into the scripts")

// TestScripts plays each script of testdata. A line is a command with its arguments, as the functions of scripts explain; the lines
// behind it that begin with ">" are everything that the machine must answer, in order.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := strings.Split(string(text), "\n")
			for i, line := range strings.Split(got, "\n") {
				if i >= len(want) || line != want[i] {
					t.Fatalf("line %d: got %q, want %q", i+1, line, strings.Join(want[i:min(i+1, len(want))], ""))
				}
			}
		})
	}
}

// play returns the script with what the machine answered.
func play(t *testing.T, text string) string {
	t.Helper()
	s := &script{config: group.DefaultConfig(), labels: map[group.RequestID]string{}}
	s.machine = group.NewMachine(s.config)
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		out = append(out, line)
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, answer := range s.run(t, line) {
			out = append(out, "> "+answer)
		}
	}
	return strings.Join(out, "\n")
}

// script is a machine and the names of its requests.
type script struct {
	config  group.Config
	machine *group.Machine
	labels  map[group.RequestID]string
	next    group.RequestID
	shown   string
	out     []string
}

// arguments are key=value; a word without "=" is a flag.
type arguments map[string]string

func (a arguments) or(key, otherwise string) string {
	if value, given := a[key]; given {
		return value
	}
	return otherwise
}

func (a arguments) optional(key string) *string {
	if value, given := a[key]; given {
		return &value
	}
	return nil
}

func (a arguments) has(key string) bool { _, given := a[key]; return given }

func (a arguments) duration(t *testing.T, key, otherwise string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(a.or(key, otherwise))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (a arguments) number(t *testing.T, key, otherwise string) int {
	t.Helper()
	n, err := strconv.Atoi(a.or(key, otherwise))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *script) run(t *testing.T, line string) []string {
	t.Helper()
	words := strings.Fields(line)
	args := arguments{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		args[key] = value
	}
	s.out = nil
	commands := map[string]func(*testing.T, []string, arguments){
		"config": s.configure, "join": s.join, "sync": s.sync, "heartbeat": s.heartbeat, "commit": s.commit, "leave": s.leave,
		"expire": s.expire, "describe": s.describe, "restart": s.restart, "store-failed": s.storeFailed, "topics": s.topics, "kill": s.kill,
	}
	command := commands[words[0]]
	if command == nil {
		t.Fatalf("unknown command in %q", line)
	}
	command(t, words[1:], args)
	if state := fmt.Sprintf("%s generation %d", s.machine.State(), s.machine.Generation()); state != s.shown {
		s.shown = state
		s.out = append(s.out, state)
	}
	return s.out
}

// config [delay=3s] [max-size=N] begins a new group.
func (s *script) configure(t *testing.T, _ []string, a arguments) {
	s.config.InitialRebalanceDelay = a.duration(t, "delay", "3s")
	s.config.MaxSize = a.number(t, "max-size", "2147483647")
	s.machine, s.shown = group.NewMachine(s.config), ""
}

// join LABEL [member=ID] [instance=ID] [new=ID] [type=consumer] [protocols=name:metadata,…] [session=10s] [rebalance=60s] [ask] [skip]:
// new is the id that a new member gets, ask is the behavior of v4 and skip that of v9.
func (s *script) join(t *testing.T, words []string, a arguments) {
	s.next++
	s.labels[s.next] = words[0]
	s.effects(s.machine.Join(s.next, group.JoinRequest{
		MemberID: a["member"], InstanceID: a.optional("instance"), NewMemberID: a["new"], ClientID: "client", ClientHost: "/127.0.0.1",
		ProtocolType: a.or("type", "consumer"), Protocols: protocols(a.or("protocols", "range:r")),
		SessionTimeout: a.duration(t, "session", "10s"), RebalanceTimeout: a.duration(t, "rebalance", "60s"),
		RequireMemberID: a.has("ask"), CanSkipAssignment: a.has("skip"), Reason: "test",
	}))
}

func protocols(text string) []group.Protocol {
	var list []group.Protocol
	for item := range strings.SplitSeq(text, ",") {
		if name, metadata, _ := strings.Cut(item, ":"); name != "" {
			list = append(list, group.Protocol{Name: name, Metadata: []byte(metadata)})
		}
	}
	return list
}

func identity(t *testing.T, a arguments) group.Identity {
	t.Helper()
	return group.Identity{MemberID: a["member"], InstanceID: a.optional("instance"), Generation: int32(a.number(t, "generation", "-1"))}
}

// sync LABEL member=ID generation=N [instance=ID] [v5] [type=T] [protocol=P] [assign=member:bytes,…]
func (s *script) sync(t *testing.T, words []string, a arguments) {
	s.next++
	s.labels[s.next] = words[0]
	r := group.SyncRequest{Identity: identity(t, a), RequireProtocol: a.has("v5"), ProtocolType: a.optional("type"), Protocol: a.optional("protocol")}
	for _, p := range protocols(a["assign"]) {
		r.Assignments = append(r.Assignments, group.Assignment{MemberID: p.Name, Data: p.Metadata})
	}
	s.effects(s.machine.Sync(s.next, r))
}

// heartbeat member=ID generation=N [instance=ID]
func (s *script) heartbeat(t *testing.T, _ []string, a arguments) {
	effects, err := s.machine.Heartbeat(identity(t, a))
	s.out = append(s.out, "answer "+code(err))
	s.effects(effects)
}

// commit [member=ID] [generation=N] [instance=ID] [transaction]
func (s *script) commit(t *testing.T, _ []string, a arguments) {
	effects, err := s.machine.CheckCommit(identity(t, a), a.has("transaction"))
	s.out = append(s.out, "answer "+code(err))
	s.effects(effects)
}

// leave MEMBER[@INSTANCE] … , where MEMBER may be empty
func (s *script) leave(_ *testing.T, words []string, _ arguments) {
	var requests []group.LeaveRequest
	for _, word := range words {
		id, instance, static := strings.Cut(word, "@")
		r := group.LeaveRequest{MemberID: id, Reason: "test"}
		if static {
			r.InstanceID = &instance
		}
		requests = append(requests, r)
	}
	errs, effects := s.machine.Leave(requests)
	for i, err := range errs {
		s.out = append(s.out, "left "+words[i]+" "+code(err))
	}
	s.effects(effects)
}

// expire session|pending MEMBER, expire join, expire sync
func (s *script) expire(t *testing.T, words []string, _ arguments) {
	kinds := map[string]group.TimerKind{
		"session": group.SessionTimer, "pending": group.PendingTimer, "join": group.JoinTimer, "sync": group.SyncTimer,
	}
	kind, known := kinds[words[0]]
	if !known {
		t.Fatalf("unknown timer %s", words[0])
	}
	timer := group.Timer{Kind: kind}
	if len(words) > 1 {
		timer.Member = words[1]
	}
	s.effects(s.machine.Expired(timer))
}

// describe shows what DescribeGroups would.
func (s *script) describe(*testing.T, []string, arguments) {
	d := s.machine.Describe()
	s.out = append(s.out, fmt.Sprintf("group %s type=%s protocol=%s", d.State, d.ProtocolType, d.Protocol))
	for _, m := range d.Members {
		s.out = append(s.out, fmt.Sprintf("member %s%s client=%s host=%s metadata=%q assignment=%q",
			m.MemberID, at(m.InstanceID), m.ClientID, m.ClientHost, m.Metadata, m.Assignment))
	}
}

// restart [max-size=N] stores the group and reads it again, as after a crash. Only what was stored last would really be there.
func (s *script) restart(t *testing.T, _ []string, a arguments) {
	if a.has("max-size") {
		s.config.MaxSize = a.number(t, "max-size", "")
	}
	value, err := s.machine.Snapshot(time.UnixMilli(1000)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := group.DecodeSnapshot(value)
	if err != nil {
		t.Fatal(err)
	}
	machine, effects := group.Restore(s.config, snapshot)
	s.machine = machine
	s.effects(effects)
}

// topics TOPIC … shows which of them the group subscribes to.
func (s *script) topics(_ *testing.T, words []string, _ arguments) {
	_, known := s.machine.Topics()
	line := fmt.Sprintf("known %v", known)
	for _, topic := range words {
		line += fmt.Sprintf(" %s=%v", topic, s.machine.Subscribes(topic))
	}
	s.out = append(s.out, line)
}

func (s *script) storeFailed(*testing.T, []string, arguments) { s.effects(s.machine.StoreFailed()) }

func (s *script) kill(*testing.T, []string, arguments) {
	s.effects(s.machine.Kill(group.ErrNotAvailable))
}

// effects writes down what an event asked for.
func (s *script) effects(e group.Effects) {
	if e.Store {
		s.out = append(s.out, "store")
	}
	for _, c := range e.Timers {
		name := strings.TrimSpace(c.Timer.Kind.String() + " " + c.Timer.Member)
		if c.Stop {
			s.out = append(s.out, "stop "+name)
		} else {
			s.out = append(s.out, fmt.Sprintf("timer %s %v", name, c.After))
		}
	}
	for _, a := range e.Joins {
		s.out = append(s.out, s.labels[a.Request]+": "+joined(a.Result))
	}
	for _, a := range e.Syncs {
		text := fmt.Sprintf("%s %s %q", a.Result.ProtocolType, a.Result.Protocol, a.Result.Assignment)
		if a.Result.Err != nil {
			text = code(a.Result.Err)
		}
		s.out = append(s.out, s.labels[a.Request]+": "+text)
	}
}

func joined(r group.JoinResult) string {
	if r.Err != nil {
		return strings.TrimSpace(fmt.Sprintf("%s %s", code(r.Err), r.MemberID))
	}
	text := fmt.Sprintf("joined %s generation=%d %s/%s leader=%s", r.MemberID, r.Generation, r.ProtocolType, r.Protocol, r.Leader)
	if r.SkipAssignment {
		text += " skip"
	}
	for _, m := range r.Members {
		text += fmt.Sprintf(" [%s%s %s]", m.MemberID, at(m.InstanceID), m.Metadata)
	}
	return text
}

func at(instance *string) string {
	if instance == nil {
		return ""
	}
	return "@" + *instance
}

// code names an error by Kafka's number.
func code(err error) string {
	numbers := map[error]string{
		nil: "0", group.ErrNotAvailable: "15", group.ErrIllegalGeneration: "22", group.ErrInconsistentProtocol: "23",
		group.ErrUnknownMember: "25", group.ErrSessionTimeout: "26", group.ErrRebalancing: "27", group.ErrMemberIDRequired: "79",
		group.ErrGroupMaxSize: "81", group.ErrFencedInstance: "82",
	}
	for known, number := range numbers {
		if errors.Is(err, known) {
			return "error " + number
		}
	}
	return "error " + err.Error()
}

package interleaving

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// A failing schedule of a short program is replayed from its script: KAAS_SCRIPT is a file of the printed lines, KAAS_PLAN the program's name.
func TestReplay(t *testing.T) {
	file, name := os.Getenv("KAAS_SCRIPT"), os.Getenv("KAAS_PLAN")
	if file == "" {
		t.Skip("KAAS_SCRIPT names no file")
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range shortPrograms() {
		if c.plan.Name == name {
			out := replayed(t, c.plan, strings.Split(strings.TrimSpace(string(script)), "\n"))
			if out.verdict != nil {
				t.Fatal(out)
			}
			t.Log(out)
			return
		}
	}
	t.Fatalf("no program has the name %q", name)
}

func replayed(t *testing.T, plan Plan, script []string) (out outcome) {
	synctest.Test(t, func(*testing.T) { out = run(plan, replay(script)) })
	return out
}

func TestAScriptRepeats(t *testing.T) {
	plan := deceived(withCrash(twoOwners()), tailNotSynced)
	found, _, _ := explore(t, plan, 2, 1000)
	if found == nil {
		t.Fatal("nothing is found")
	}
	again := replayed(t, plan, found.script)
	if again.verdict == nil || again.verdict.Error() != found.verdict.Error() {
		t.Fatalf("found %v, and its script gives %v", found, again)
	}
}

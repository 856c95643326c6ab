package interleaving

import (
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// deceived is the plan with every owner's engine changed.
func deceived(plan Plan, lie func(o *Owner) *liar) Plan {
	plan.Deceive = func(o *Owner, inner vfs.FS) vfs.FS { return lyingFS{inner, lie(o)} }
	return plan
}

// Every rule of the safety argument is needed: with one taken out, the judge finds a schedule that breaks a promise.
func TestEveryRuleIsNeeded(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(o *Owner) *liar
		plan Plan
		says string // what the verdict must say, where the lie hides more than the rule asks for
	}{
		{"fence check in a commit", commitWithoutCheck, twoOwners(), ""},
		{"second listing", oneListing, twoOwners(), ""},
		{"tail", noTail, twoOwners(), ""},
		{"sync of the copied tail", tailNotSynced, withCrash(twoOwners()), ""},
		{"check after the sync", checkBeforeSync, delayed(twoOwners()), ""},
		{"giving way to a higher name", neverGivesWay, slowTaker(), ""},
		{"giving way to files of the own epoch", ownEpochUnseen, reusedEpoch(), "both lead at epoch"},
		{"manifest before the check", checkBeforeManifest, threeOwners(), ""},
		{"manifest before removal", filesBeforeManifest, deleting(twoOwners()), ""},
		{"check before removal", removalWithoutCheck, deleting(twoOwners()), ""},
		{"sync of the claim before lower ones go", claimNotSynced, lostClaim(), ""},
		{"sync of the transaction index", abortedNotSynced, withCrash(abortedBeforeHandover()), ""},
		{"sync of compaction's files", outputsNotSynced, withCrash(compacting()), ""},
		{"sync of the names of compaction's files", outputNamesNotSynced, lostNames(compacting()), ""},
		{"manifest before the removal of what was compacted", inputsBeforeManifest, compacting(), ""},
		{"check before the removal of what was compacted", removalWithoutCheck, compacting(), ""},
		{"aborted transactions go with the records", abortedNotCarriedOver, compactingTransactions(), ""},
		{"sync after the removal of claims", claimsNotSynced, withCrash(overtakenTaker()), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			total := 0
			for _, switches := range []int{0, 1, 2, -1} {
				found, runs, _ := explore(t, deceived(c.plan, c.lie), switches, 20000)
				total += runs
				if found != nil {
					if strings.Contains(found.verdict.Error(), "does not repeat") {
						t.Fatalf("%v, which is no broken promise", found.verdict)
					}
					if !strings.Contains(found.verdict.Error(), c.says) {
						t.Fatalf("%v, which is not what the rule is for", found.verdict)
					}
					t.Logf("%d switches, %d runs: %v", switches, total, found.verdict)
					if testing.Verbose() {
						t.Log(found)
					}
					return
				}
			}
			t.Fatalf("nothing is found in %d runs", total)
		})
	}
}

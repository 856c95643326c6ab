// Package exactlyonce checks transactions as a whole, from the outside only: what clients were told, and what they read.
//
// Producers run transactions: some commit, some abort, some are left open, some go on after their successor has registered. A group of two members
// (franz-go's GroupTransactSession) copies the input to the output. Meanwhile the broker is killed, loses power, hangs, is replaced while it hangs and wakes up, and
// its disk is slow; clients crash and freeze, also right before and after they end a transaction; markers are lost and late, and those of a replaced
// coordinator arrive at its successor (memory_test.go, node_test.go).
//
// When all is quiet (run_test.go, judge_test.go):
//
//   - What read_committed shows is exactly the committed input, whole transactions in the order of sending for each key, and what the markers in the log say. A
//     transaction whose producer got no answer is there as a whole or not at all.
//   - Readers of committed records that watched all the time have seen the same.
//   - The output has each committed record of the input once, in its order for each key.
//   - The group's committed offsets never went back, nor below what a member was told.
//   - A marker ends one transaction; the identities of a producer's markers rise.
//   - Nothing is open longer than the transaction timeout, and no client waited in vain.
//
// The same clients live in two worlds. TestExactlyOnce plays seeds in one bubble of virtual time each: the whole broker over a disk and a network in memory. A seed decides what
// goes wrong and when, and what clients try, but not the order of goroutines: a seed that failed fails again mostly, not always. TestExactlyOnceOutlivesKills
// has processes of bin/kaas.
//
//	KAAS_SEED=17 go test -tags synctests -run 'TestExactlyOnce$' -v    # one seed, with its history when it fails
//	KAAS_SEEDS=2000 go test -run 'TestExactlyOnce$'                    # many
//
// The checker is only worth what it finds. Each of these mistakes, made in the code, fails it within 40 seeds, the last within 100: no check of a marker's identity in the log; Complete
// before the markers; read_committed that shows all up to the high watermark, or does not list aborted transactions; staged offsets applied on abort, in memory or in
// the slot; offsets told while a transaction may change them; a fence that keeps the epoch; markers that nobody
// sends after a restart; markers that are sent before the decision is durable. Mistakes that need no change of the broker are tests (mistakes_test.go).
package exactlyonce

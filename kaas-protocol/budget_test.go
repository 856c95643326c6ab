package protocol

import "testing"

func TestBudgetServesWaitersInOrder(t *testing.T) {
	b := &budget{limit: 100}
	if b.reserve(60) != nil {
		t.Fatal("a first reservation waits")
	}
	large, small := b.reserve(80), b.reserve(10)
	if large == nil || small == nil {
		t.Fatal("a small reservation overtook a large one, or 140 bytes fit in 100")
	}
	b.take(5) // past the queue
	b.release(share{60, 60})
	if !granted(large) || !granted(small) {
		t.Fatalf("granted %v and %v with 95 of 100 bytes to be in use, want both", granted(large), granted(small))
	}
	b.release(share{80, 80})
	b.release(share{10, 10})
	b.release(share{5, 0})
	if b.used != 0 {
		t.Errorf("%d bytes in use at the end, want 0", b.used)
	}
}

func TestBudgetWaiterThatGivesUp(t *testing.T) {
	b := &budget{limit: 100}
	b.reserve(60)
	first, second := b.reserve(70), b.reserve(30)
	b.cancel(first)
	if !granted(second) {
		t.Fatal("a waiter that fits is not granted when the one in front of it gives up")
	}
	b.cancel(second) // granted meanwhile
	if b.used != 60 {
		t.Errorf("%d bytes in use, want 60", b.used)
	}
}

func TestBudgetLetsOneRequestAboveTheLimitAlone(t *testing.T) {
	b := &budget{limit: 100}
	if b.reserve(1000) != nil {
		t.Fatal("a request above the whole limit waits although nothing is in flight")
	}
	if waiter := b.reserve(1); granted(waiter) {
		t.Fatal("another fits beside it")
	}
}

func granted(r *reservation) bool {
	if r == nil {
		return true
	}
	select {
	case <-r.granted:
		return true
	default:
		return false
	}
}

func TestBudgetEndsTheWaitOfRequestsForOneAnother(t *testing.T) {
	b := &budget{limit: 100}
	b.take(30) // what nobody has waited for
	b.reserve(35)
	b.reserve(35)
	first, second := b.reserveMore(35, 200), b.reserveMore(35, 200)
	if !granted(first) || granted(second) {
		t.Fatalf("granted %v and %v, want the first alone: nothing but the two is in use", granted(first), granted(second))
	}
	b.release(share{235, 235})
	if !granted(second) {
		t.Fatal("the second is not granted when the first has gone")
	}
	b.release(share{235, 235})
	b.release(share{30, 0})
	if b.used != 0 || b.waited != 0 || b.held != 0 {
		t.Errorf("%d bytes in use and %d held at the end, want 0", b.used, b.held)
	}
}

// A request that waits several times, for more each time, does not let the next one pass the limit meanwhile.
func TestBudgetLetsTheSameRequestOn(t *testing.T) {
	const limit, clients, parked = 100, 20, 7
	steps := []int64{5, 15, 300}
	total := steps[0] + steps[1] + steps[2]
	b := &budget{limit: limit}
	b.take(parked) // which stays
	waiting, next := make([]*reservation, clients), make([]int, clients)
	for i := range clients {
		b.take(steps[0])
		next[i] = 1
		waiting[i] = &reservation{granted: make(chan struct{})}
		close(waiting[i].granted)
	}
	for answered := 0; answered < clients; {
		progress := false
		for i := range clients {
			if next[i] > len(steps) || !granted(waiting[i]) {
				continue
			}
			progress = true
			if next[i]++; next[i] > len(steps) {
				b.release(share{total, total - steps[0]})
				answered++
				continue
			}
			held := int64(0)
			for _, step := range steps[1 : next[i]-1] {
				held += step
			}
			waiting[i] = b.reserveMore(held, steps[next[i]-1])
		}
		if b.used > limit+total+parked {
			t.Fatalf("%d bytes in use, more than one request above the limit", b.used)
		}
		if !progress {
			t.Fatal("all wait for one another")
		}
	}
	if b.used != parked || b.waited != 0 || b.held != 0 {
		t.Errorf("%d bytes in use, %d waited for and %d held at the end, want 7, 0 and 0", b.used, b.waited, b.held)
	}
}

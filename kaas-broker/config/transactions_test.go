package config_test

import (
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

func TestTransactions(t *testing.T) {
	defaults := config.Transactions{
		MaxTimeout: 15 * time.Minute, CheckInterval: 10 * time.Second, IDExpiration: 7 * 24 * time.Hour, IDCheckInterval: time.Hour, Verify: true,
	}
	if got := load(t, nil, nil, "").Transactions; got != defaults {
		t.Errorf("without settings: %+v", got)
	}
	want := config.Transactions{MaxTimeout: time.Second, CheckInterval: 2 * time.Second, IDExpiration: 3 * time.Second, IDCheckInterval: 4 * time.Second}
	c := load(t, nil, nil, `transaction.max.timeout.ms=1000
transaction.abort.timed.out.transaction.cleanup.interval.ms=2000
transactional.id.expiration.ms=3000
transaction.remove.expired.transaction.cleanup.interval.ms=4000
transaction.partition.verification.enable=false
`)
	if c.Transactions != want {
		t.Errorf("%+v, want %+v", c.Transactions, want)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings %v", c.Warnings)
	}
}

package backoff

import (
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	p := Policy{First: time.Second, Factor: 2, Most: 5 * time.Second}
	for failures, want := range []time.Duration{0, 1, 2, 4, 5, 5} {
		if got := p.Pause(failures, 0); got != want*time.Second {
			t.Fatalf("%v after %d failures", got, failures)
		}
	}
}

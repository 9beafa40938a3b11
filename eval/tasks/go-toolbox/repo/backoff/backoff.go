// Package backoff computes how long to wait before the next attempt.
package backoff

import (
	"math"
	"time"
)

// Policy describes pauses that grow. The zero value never waits.
type Policy struct {
	// First is the pause after the first failure. Negative counts as 0.
	First time.Duration
	// Factor is by how much each pause is longer than the one before. Below 1, and NaN, count as 1.
	Factor float64
	// Most is the longest pause. 0 or less: no limit but the largest Duration.
	Most time.Duration
	// Jitter is the part of the pause that is random, from 0 to 1; other values count as the nearest of these, NaN as 0.
	Jitter float64
}

// Pause returns the pause after so many failures; none for 0 or fewer. random is from 0 up to but not including 1. The pause
// is First × Factor^(failures-1), at most Most; with jitter j, it is reduced by pause × j × random. It is never negative,
// and never overflows. Parts of a nanosecond are cut off at the end.
func (p Policy) Pause(failures int, random float64) time.Duration {
	pause := time.Duration(float64(p.First) * math.Pow(p.Factor, float64(failures)))
	if pause > p.Most {
		pause = p.Most
	}
	return pause - time.Duration(float64(pause)*p.Jitter*random)
}

// Total returns the sum of the pauses after failures 1 to n without jitter, at most the largest Duration. It takes no longer
// for a large n: at most a few thousand steps.
func (p Policy) Total(n int) time.Duration {
	var total time.Duration
	for i := 1; i <= n; i++ {
		total += p.Pause(i, 0)
	}
	return total
}

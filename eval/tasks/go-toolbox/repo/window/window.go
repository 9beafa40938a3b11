// Package window computes figures of the last values of a stream.
package window

// Window knows the last values of a stream. Add takes constant time on average, whatever the size is.
type Window struct {
	size   int
	values []int64
	next   int
	sum    float64
	// The positions of candidates, counted from the beginning of the stream: the values go up and down, respectively.
	smallest []candidate
	largest  []candidate
	count    int
}

type candidate struct {
	position int
	value    int64
}

// New returns a window of the last size values. A size below 1 counts as 1.
func New(size int) *Window {
	return &Window{size: size}
}

// Add adds a value, and forgets the oldest one if there are more than the size.
func (w *Window) Add(value int64) {
	if len(w.values) < w.size {
		w.values = append(w.values, value)
	} else {
		w.sum -= float64(w.values[w.next])
		w.values[w.next] = value
		w.next = (w.next + 1) % w.size
	}
	w.sum += float64(value)
	added := candidate{w.count, value}
	w.smallest = push(w.smallest, added, w.count-w.size, func(a, b int64) bool { return a < b })
	w.largest = push(w.largest, added, w.count-w.size, func(a, b int64) bool { return a > b })
	w.count++
}

// Len returns how many values are in the window.
func (w *Window) Len() int { return len(w.values) }

// Min returns the smallest value in the window; false if there is none.
func (w *Window) Min() (int64, bool) { return first(w.smallest) }

// Max returns the largest value in the window; false if there is none.
func (w *Window) Max() (int64, bool) { return first(w.largest) }

// Mean returns the mean of the values in the window, rounded towards minus infinity; false if there is none. It is exact for
// all values.
func (w *Window) Mean() (int64, bool) {
	if len(w.values) == 0 {
		return 0, false
	}
	return int64(w.sum / float64(len(w.values))), true
}

// Values returns the values, the oldest first. The slice is a copy.
func (w *Window) Values() []int64 {
	return append(w.values[w.next:], w.values[:w.next]...)
}

func push(candidates []candidate, added candidate, gone int, isBetter func(a, b int64) bool) []candidate {
	for len(candidates) > 0 && isBetter(added.value, candidates[0].value) {
		candidates = candidates[:len(candidates)-1]
	}
	candidates = append(candidates, added)
	if candidates[0].position < gone {
		candidates = candidates[1:]
	}
	return candidates
}

func first(candidates []candidate) (int64, bool) {
	if len(candidates) == 0 {
		return 0, false
	}
	return candidates[0].value, true
}

package hidden

import (
	"math"
	"math/big"
	"math/rand"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"example.test/toolbox/backoff"
	"example.test/toolbox/bitset"
	"example.test/toolbox/lru"
	"example.test/toolbox/queue"
	"example.test/toolbox/trie"
	"example.test/toolbox/window"
)

func setOf(numbers map[int]bool) *bitset.Set {
	s := &bitset.Set{}
	for n := range numbers {
		s.Add(n)
	}
	return s
}

func checkSet(t *testing.T, s *bitset.Set, want map[int]bool) {
	t.Helper()
	largest := -1
	for n := range want {
		if n > largest {
			largest = n
		}
	}
	next := -1
	for n := 400; n >= -2; n-- {
		if n >= 0 && want[n] {
			next = n
		}
		if s.Has(n) != (n >= 0 && want[n]) || s.Next(n) != next {
			t.Fatalf("%d: has %v, next %d instead of %d", n, s.Has(n), s.Next(n), next)
		}
	}
	words := 0
	if largest >= 0 {
		words = largest/64 + 1
	}
	if s.Len() != len(want) || s.Words() != words || !s.Equal(setOf(want)) || !setOf(want).Equal(s) {
		t.Fatalf("len %d, words %d, want %v", s.Len(), s.Words(), want)
	}
}

func TestBitset(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for round := 0; round < 300; round++ {
		a, b := map[int]bool{}, map[int]bool{}
		s, o := &bitset.Set{}, &bitset.Set{}
		for step := random.Intn([]int{3, 30}[round%2]); step >= 0; step-- {
			n := random.Intn(330)
			s.Add(n)
			a[n] = true
			if random.Intn(2) == 0 {
				n := []int{0, 63, 64, 127, 128, 191, 192, 300}[random.Intn(8)]
				o.Add(n)
				b[n] = true
			}
			n = random.Intn(330)
			s.Remove(n)
			delete(a, n)
		}
		s.Add(-1)
		s.Remove(-1)
		s.Remove(-64)
		s.Remove(100_000)
		checkSet(t, s, a)
		union, without := map[int]bool{}, map[int]bool{}
		for n := range a {
			union[n] = true
			if !b[n] {
				without[n] = true
			}
		}
		for n := range b {
			union[n] = true
		}
		joined, left := s.Union(o), s.Without(o)
		checkSet(t, joined, union)
		checkSet(t, o.Union(s), union)
		checkSet(t, left, without)
		checkSet(t, s.Without(s), map[int]bool{})
		joined.Add(1)
		joined.Add(399)
		left.Add(2)
		left.Remove(63)
		checkSet(t, s, a)
		checkSet(t, o, b)
		if s.Equal(o) != reflect.DeepEqual(a, b) {
			t.Fatal("Equal")
		}
	}
}

type pair struct{ key, value int }

func TestLRU(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for round := 0; round < 200; round++ {
		capacity := random.Intn(6) - 1
		var evicted, want []pair
		var c *lru.Cache[int, int]
		c = lru.New(capacity, func(k, v int) {
			if _, ok := c.Peek(k); ok {
				t.Fatal("it is still there")
			}
			evicted = append(evicted, pair{k, v})
		})
		var model []pair // The one that was used last is the first one.
		find := func(key int) int {
			for i, each := range model {
				if each.key == key {
					return i
				}
			}
			return -1
		}
		shrink := func() {
			for len(model) > 0 && len(model) > capacity {
				want = append(want, model[len(model)-1])
				model = model[:len(model)-1]
			}
		}
		for step := 0; step < 60; step++ {
			key, value, at := random.Intn(7), step, -1
			at = find(key)
			switch random.Intn(6) {
			case 0, 1:
				c.Put(key, value)
				if at >= 0 {
					model = append(model[:at:at], model[at+1:]...)
				}
				model = append([]pair{{key, value}}, model...)
				shrink()
			case 2:
				got, ok := c.Get(key)
				if ok != (at >= 0) || ok && got != model[at].value {
					t.Fatal("Get")
				}
				if ok {
					used := model[at]
					model = append(model[:at:at], model[at+1:]...)
					model = append([]pair{used}, model...)
				}
			case 3:
				got, ok := c.Peek(key)
				if ok != (at >= 0) || ok && got != model[at].value {
					t.Fatal("Peek")
				}
			case 4:
				if c.Remove(key) != (at >= 0) {
					t.Fatal("Remove")
				}
				if at >= 0 {
					model = append(model[:at:at], model[at+1:]...)
				}
			default:
				if random.Intn(4) == 0 {
					capacity = random.Intn(6) - 1
					c.Resize(capacity)
					shrink()
				}
			}
			keys := []int{}
			for _, each := range model {
				keys = append(keys, each.key)
			}
			if !reflect.DeepEqual(c.Keys(), keys) || c.Len() != len(keys) || !reflect.DeepEqual(evicted, want) {
				t.Fatalf("keys %v instead of %v, evicted %v instead of %v", c.Keys(), keys, evicted, want)
			}
		}
	}
	var back *lru.Cache[string, int]
	count := 0
	back = lru.New(1, func(k string, v int) {
		if count++; count < 5 {
			back.Put(k+"x", v)
		}
	})
	back.Put("a", 1)
	back.Put("b", 2)
	if back.Len() != 1 {
		t.Fatal("a callback that uses the cache")
	}
}

type queued struct {
	priority, turn, value int
	item                  *queue.Item[int]
}

func TestQueue(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	priorities := []int{-1, 0, 1, 2, math.MinInt64, math.MaxInt64}
	for round := 0; round < 300; round++ {
		var q, other queue.Queue[int]
		stranger := other.Push(7, 1)
		var model []*queued
		turn := 0
		first := func() int {
			best := 0
			for i, each := range model {
				b := model[best]
				if each.priority < b.priority || each.priority == b.priority && each.turn < b.turn {
					best = i
				}
			}
			return best
		}
		for step := 0; step < 80; step++ {
			turn++
			priority := priorities[random.Intn(len(priorities))]
			switch random.Intn(5) {
			case 0, 1:
				model = append(model, &queued{priority, turn, step, q.Push(step, priority)})
			case 2:
				value, ok := q.Pop()
				if ok != (len(model) > 0) {
					t.Fatal("Pop")
				}
				if ok {
					best := first()
					if value != model[best].value {
						t.Fatalf("popped %d instead of %d", value, model[best].value)
					}
					gone := model[best].item
					if q.Remove(gone) || q.SetPriority(gone, 5) {
						t.Fatal("a popped item")
					}
					model = append(model[:best:best], model[best+1:]...)
				}
			case 3:
				if len(model) > 0 {
					each := model[random.Intn(len(model))]
					if !q.SetPriority(each.item, priority) {
						t.Fatal("SetPriority")
					}
					if each.priority != priority {
						each.priority, each.turn = priority, turn
					}
				}
			default:
				if len(model) > 0 {
					at := random.Intn(len(model))
					if !q.Remove(model[at].item) || q.Remove(model[at].item) {
						t.Fatal("Remove")
					}
					model = append(model[:at:at], model[at+1:]...)
				}
			}
			if q.Remove(stranger) || q.SetPriority(stranger, 9) || q.Len() != len(model) {
				t.Fatal("an item of another queue")
			}
			if head := q.Peek(); (head == nil) != (len(model) == 0) || head != nil && head.Value != model[first()].value {
				t.Fatal("Peek")
			}
		}
		if value, ok := other.Pop(); !ok || value != 7 {
			t.Fatal("the other queue")
		}
	}
}

func TestTrie(t *testing.T) {
	random := rand.New(rand.NewSource(4))
	letters := []string{"a", "b", "é", "\x00", "\xff", "日"}
	word := func() string {
		text := ""
		for n := random.Intn(5); n > 0; n-- {
			text += letters[random.Intn(len(letters))]
		}
		return text
	}
	for round := 0; round < 200; round++ {
		var m trie.Trie[int]
		model := map[string]int{}
		for step := 0; step < 40; step++ {
			key := word()
			if random.Intn(3) == 0 {
				_, ok := model[key]
				if m.Delete(key) != ok {
					t.Fatalf("Delete(%q)", key)
				}
				delete(model, key)
			} else {
				m.Set(key, step)
				model[key] = step
			}
			prefix := word()
			nodes := map[string]bool{}
			keys := []string{}
			longest, found := "", false
			for key := range model {
				if strings.HasPrefix(key, prefix) {
					keys = append(keys, key)
				}
				for i := 1; i <= len(key); i++ {
					nodes[key[:i]] = true
				}
				if strings.HasPrefix(prefix, key) && (!found || len(key) > len(longest)) {
					longest, found = key, true
				}
			}
			sort.Strings(keys)
			walked := []string{}
			m.Walk(prefix, func(key string, value int) bool {
				if value != model[key] {
					t.Fatal("value")
				}
				walked = append(walked, key)
				m.Set(key, value)
				return true
			})
			if !reflect.DeepEqual(walked, keys) || m.Len() != len(model) || m.Nodes() != len(nodes) {
				t.Fatalf("walk %q: %q instead of %q, len %d, nodes %d instead of %d", prefix, walked, keys, m.Len(), m.Nodes(), len(nodes))
			}
			if len(keys) > 1 {
				calls := 0
				m.Walk(prefix, func(string, int) bool { calls++; return calls < 2 })
				if calls != 2 {
					t.Fatal("the walk goes on")
				}
			}
			got, value, ok := m.Longest(prefix)
			if got != longest || ok != found || ok && value != model[longest] {
				t.Fatalf("longest of %q: %q instead of %q", prefix, got, longest)
			}
			if value, ok := m.Get(prefix); ok != (func() bool { _, has := model[prefix]; return has })() || value != model[prefix] {
				t.Fatal("Get")
			}
		}
	}
}

func TestWindow(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	values := []int64{math.MinInt64, math.MaxInt64, math.MaxInt64 - 1, -1, 0, 1, 2, 3, 9007199254740993, -7}
	for round := 0; round < 300; round++ {
		size := random.Intn(8) - 1
		w := window.New(size)
		if size < 1 {
			size = 1
		}
		if _, ok := w.Min(); ok {
			t.Fatal("Min")
		}
		if _, ok := w.Max(); ok {
			t.Fatal("Max")
		}
		if _, ok := w.Mean(); ok || w.Len() != 0 || len(w.Values()) != 0 {
			t.Fatal("an empty window")
		}
		last := []int64{}
		for step := 0; step < 40; step++ {
			value := values[random.Intn(len(values))]
			w.Add(value)
			last = append(last, value)
			if len(last) > size {
				last = last[1:]
			}
			sorted := append([]int64(nil), last...)
			sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
			sum := new(big.Int)
			for _, each := range last {
				sum.Add(sum, big.NewInt(each))
			}
			mean := new(big.Int).Div(sum, big.NewInt(int64(len(last)))).Int64()
			smallest, _ := w.Min()
			largest, _ := w.Max()
			got, ok := w.Mean()
			if smallest != sorted[0] || largest != sorted[len(sorted)-1] || got != mean || !ok || w.Len() != len(last) {
				t.Fatalf("%v: min %d, max %d, mean %d instead of %d", last, smallest, largest, got, mean)
			}
			copied := w.Values()
			if !reflect.DeepEqual(copied, last) {
				t.Fatalf("values %v instead of %v", copied, last)
			}
			copied = append(copied[:0], 99)
			_ = copied
			if !reflect.DeepEqual(w.Values(), last) {
				t.Fatal("the slice is no copy")
			}
		}
	}
	large := window.New(200_000)
	for i := int64(0); i < 2_000_000; i++ {
		large.Add(i % 1_000_003)
		if i%1000 == 0 {
			large.Max()
			large.Min()
			large.Mean()
		}
	}
}

func TestBackoff(t *testing.T) {
	const most = time.Duration(math.MaxInt64)
	nan := math.NaN()
	for _, each := range []struct {
		policy   backoff.Policy
		failures int
		random   float64
		want     time.Duration
	}{
		{backoff.Policy{}, 5, 0.5, 0},
		{backoff.Policy{First: 100, Factor: 2}, 0, 0, 0},
		{backoff.Policy{First: 100, Factor: 2}, -3, 0, 0},
		{backoff.Policy{First: 100, Factor: 2}, 1, 0, 100},
		{backoff.Policy{First: 100, Factor: 2}, 4, 0, 800},
		{backoff.Policy{First: 100, Factor: 1.5}, 4, 0, 337},
		{backoff.Policy{First: 100, Factor: 2, Most: 500}, 4, 0, 500},
		{backoff.Policy{First: 900, Factor: 2, Most: 500}, 1, 0, 500},
		{backoff.Policy{First: 100, Factor: 2}, 100, 0, most},
		{backoff.Policy{First: 100, Factor: 2}, math.MaxInt32, 0, most},
		{backoff.Policy{First: 100, Factor: math.Inf(1)}, 1, 0, 100},
		{backoff.Policy{First: 100, Factor: math.Inf(1)}, 2, 0, most},
		{backoff.Policy{First: 100, Factor: 0.5}, 9, 0, 100},
		{backoff.Policy{First: 100, Factor: nan}, 9, 0, 100},
		{backoff.Policy{First: 100, Factor: -2}, 2, 0, 100},
		{backoff.Policy{First: -100, Factor: 2}, 3, 0, 0},
		{backoff.Policy{First: 100, Factor: 2, Jitter: 0.5}, 1, 0.5, 75},
		{backoff.Policy{First: 100, Factor: 2, Jitter: 1}, 2, 0.75, 50},
		{backoff.Policy{First: 100, Factor: 2, Jitter: 7}, 2, 0.75, 50},
		{backoff.Policy{First: 100, Factor: 2, Jitter: -1}, 2, 0.75, 200},
		{backoff.Policy{First: 100, Factor: 2, Jitter: nan}, 2, 0.75, 200},
		{backoff.Policy{First: 100, Factor: 2, Jitter: 0.5}, 2, 0, 200},
		{backoff.Policy{First: 100, Factor: 2, Jitter: 0.5}, 99, 0, most},
		{backoff.Policy{First: 1 << 60, Factor: 2, Jitter: 0.5}, 99, 0.5, 6917529027641081856},
	} {
		if got := each.policy.Pause(each.failures, each.random); got != each.want {
			t.Fatalf("%+v: %d instead of %d", each, got, each.want)
		}
	}
	exact := backoff.Policy{First: 9007199254740993, Factor: 1}
	if exact.Pause(3, 0) != 9007199254740993 {
		t.Fatal("a factor of 1 changes the pause")
	}
	random := rand.New(rand.NewSource(6))
	for i := 0; i < 2000; i++ {
		p := backoff.Policy{First: time.Duration(random.Int63()), Factor: 1 + random.Float64()*3, Most: time.Duration(random.Int63()), Jitter: random.Float64()}
		if pause := p.Pause(1+random.Intn(200), random.Float64()); pause < 0 || pause > p.Most {
			t.Fatalf("%+v: %d", p, pause)
		}
	}
	for _, each := range []struct {
		policy backoff.Policy
		n      int
		want   time.Duration
	}{
		{backoff.Policy{First: 100, Factor: 2}, 0, 0},
		{backoff.Policy{First: 100, Factor: 2}, -1, 0},
		{backoff.Policy{First: 100, Factor: 2}, 3, 700},
		{backoff.Policy{First: 100, Factor: 2, Most: 300, Jitter: 1}, 4, 900},
		{backoff.Policy{First: 100, Factor: 2, Most: 300}, 1_000_000_000, 299_999_999_700},
		{backoff.Policy{First: 3, Factor: 1}, 1_000_000_000_000, 3_000_000_000_000},
		{backoff.Policy{First: 0, Factor: 2}, math.MaxInt64, 0},
		{backoff.Policy{First: 100, Factor: 2}, math.MaxInt64, most},
		{backoff.Policy{First: 3, Factor: 1}, math.MaxInt64, most},
		{backoff.Policy{First: 1, Factor: 1}, math.MaxInt64, most},
	} {
		if got := each.policy.Total(each.n); got != each.want {
			t.Fatalf("total of %+v: %d instead of %d", each, got, each.want)
		}
	}
}

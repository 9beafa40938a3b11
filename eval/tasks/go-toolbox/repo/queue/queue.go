// Package queue has a queue in which the smallest priority comes first.
package queue

// Item is a value in a queue. It belongs to the queue that has returned it.
type Item[T any] struct {
	Value    T
	priority int
	turn     uint64
	index    int
	queue    *Queue[T]
}

// Queue is a priority queue. Values with the same priority come in the order in which they were pushed, or in which their
// priority was set to this one. The zero value is empty. Push, Pop, Remove and SetPriority take time O(log n).
type Queue[T any] struct {
	items []*Item[T]
	turns uint64
}

// Push adds a value.
func (q *Queue[T]) Push(value T, priority int) *Item[T] {
	item := &Item[T]{Value: value, priority: priority, turn: q.nextTurn(), index: len(q.items), queue: q}
	q.items = append(q.items, item)
	q.up(item.index)
	return item
}

// Peek returns the first item without removing it, or nil.
func (q *Queue[T]) Peek() *Item[T] {
	if len(q.items) == 0 {
		return nil
	}
	return q.items[0]
}

// Pop removes the first value. It returns false if there is none.
func (q *Queue[T]) Pop() (T, bool) {
	if len(q.items) == 0 {
		var none T
		return none, false
	}
	first := q.items[0]
	q.Remove(first)
	return first.Value, true
}

// Remove removes an item. It returns false if the item is not in this queue (any more).
func (q *Queue[T]) Remove(item *Item[T]) bool {
	if item.queue != q {
		return false
	}
	index, last := item.index, len(q.items)-1
	q.swap(index, last)
	q.items[last] = nil
	q.items = q.items[:last]
	q.down(index)
	return true
}

// SetPriority changes the priority of an item; the same priority changes nothing. It returns false if the item is not in
// this queue (any more).
func (q *Queue[T]) SetPriority(item *Item[T], priority int) bool {
	if item.queue != q {
		return false
	}
	if item.priority != priority {
		item.priority = priority
		q.fix(item.index)
	}
	return true
}

// Len returns the number of values.
func (q *Queue[T]) Len() int { return len(q.items) }

func (q *Queue[T]) nextTurn() uint64 {
	q.turns++
	return q.turns
}

func (q *Queue[T]) before(i, j int) bool {
	a, b := q.items[i], q.items[j]
	return a.priority-b.priority < 0
}

func (q *Queue[T]) swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.items[i].index, q.items[j].index = q.items[j].index, q.items[i].index
}

func (q *Queue[T]) fix(i int) {
	q.up(i)
	q.down(i)
}

func (q *Queue[T]) up(i int) {
	for i > 0 && q.before(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q *Queue[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.items) {
			return
		}
		if child+2 < len(q.items) && q.before(child+1, child) {
			child++
		}
		if !q.before(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}

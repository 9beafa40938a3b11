package queue

import "testing"

func TestEqualPriorities(t *testing.T) {
	var q Queue[int]
	for i := 0; i < 20; i++ {
		q.Push(i, 1)
	}
	for i := 0; i < 20; i++ {
		if value, _ := q.Pop(); value != i {
			t.Fatalf("%d instead of %d", value, i)
		}
	}
}

package window

import "testing"

func TestMax(t *testing.T) {
	w := New(2)
	for _, value := range []int64{5, 3, 1} {
		w.Add(value)
	}
	if largest, _ := w.Max(); largest != 3 {
		t.Fatalf("the largest value is %d", largest)
	}
}

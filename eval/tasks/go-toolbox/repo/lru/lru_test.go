package lru

import "testing"

func TestPutUsesTheEntry(t *testing.T) {
	c := New[string, int](2, nil)
	c.Put("a", 1)
	c.Put("b", 2)
	c.Put("a", 3)
	c.Put("c", 4)
	if _, ok := c.Get("a"); !ok {
		t.Fatal("a was pushed out")
	}
}

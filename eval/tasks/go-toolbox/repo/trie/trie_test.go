package trie

import "testing"

func TestDeleteKeepsOthers(t *testing.T) {
	var m Trie[int]
	m.Set("a", 1)
	m.Set("abc", 2)
	m.Delete("abc")
	if value, ok := m.Get("a"); !ok || value != 1 || m.Nodes() != 1 {
		t.Fatal("a is lost")
	}
}

// Package trie maps texts to values, and finds the texts with a beginning.
package trie

import "sort"

// Trie is a map with texts as keys, also the empty one. The zero value is empty. Keys are compared by bytes.
type Trie[V any] struct {
	root node[V]
	size int
}

type node[V any] struct {
	children map[byte]*node[V]
	value    V
	isKey    bool
}

// Set stores a value.
func (t *Trie[V]) Set(key string, value V) {
	present := &t.root
	for i := 0; i < len(key); i++ {
		if present.children == nil {
			present.children = map[byte]*node[V]{}
		}
		child := present.children[key[i]]
		if child == nil {
			child = &node[V]{}
			present.children[key[i]] = child
		}
		present = child
	}
	t.size++
	present.value, present.isKey = value, true
}

// Get returns the value of a key.
func (t *Trie[V]) Get(key string) (V, bool) {
	if found := t.find(key); found != nil && found.isKey {
		return found.value, true
	}
	var none V
	return none, false
}

// Delete removes a key, and tells whether it was there. Nodes that lead to no key any more are removed.
func (t *Trie[V]) Delete(key string) bool {
	path := []*node[V]{&t.root}
	for i := 0; i < len(key); i++ {
		child := path[i].children[key[i]]
		if child == nil {
			return false
		}
		path = append(path, child)
	}
	last := path[len(key)]
	var none V
	last.value, last.isKey = none, false
	t.size--
	for i := len(key); i > 0; i-- {
		delete(path[i-1].children, key[i-1])
	}
	return true
}

// Longest returns the longest key with which a text begins.
func (t *Trie[V]) Longest(text string) (key string, value V, ok bool) {
	present := &t.root
	for i := 0; present != nil; i++ {
		if present.isKey {
			key, value, ok = text[:i], present.value, true
		}
		if i >= len(text)-1 {
			break
		}
		present = present.children[text[i]]
	}
	return key, value, ok
}

// Walk calls visit for each key that begins with a prefix, sorted by bytes, until visit returns false. visit may change the
// values of keys, but must not add or delete keys.
func (t *Trie[V]) Walk(prefix string, visit func(key string, value V) bool) {
	if start := t.find(prefix); start != nil {
		start.walk([]byte(prefix), visit)
	}
}

// Len returns the number of keys.
func (t *Trie[V]) Len() int { return t.size }

// Nodes returns the number of nodes without the root.
func (t *Trie[V]) Nodes() int { return t.root.count() - 1 }

func (t *Trie[V]) find(key string) *node[V] {
	present := &t.root
	for i := 0; i < len(key) && present != nil; i++ {
		present = present.children[key[i]]
	}
	return present
}

func (n *node[V]) walk(key []byte, visit func(string, V) bool) bool {
	if n.isKey && !visit(string(key), n.value) {
		return false
	}
	letters := make([]int, 0, len(n.children))
	for letter := range n.children {
		letters = append(letters, int(int8(letter)))
	}
	sort.Ints(letters)
	for _, letter := range letters {
		child := n.children[byte(letter)]
		child.walk(append(key, byte(letter)), visit)
	}
	return true
}

func (n *node[V]) count() int {
	count := 1
	for _, child := range n.children {
		count += child.count()
	}
	return count
}

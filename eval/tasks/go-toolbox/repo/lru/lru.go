// Package lru keeps the entries that were used last.
package lru

import "container/list"

// Cache holds at most a number of entries. It is not safe for concurrent use.
type Cache[K comparable, V any] struct {
	capacity int
	onEvict  func(K, V)
	order    *list.List
	entries  map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty cache. With a capacity of 0 or less it never holds anything. onEvict (nil is allowed) is called
// for each entry that is pushed out because of the capacity, after it has left the cache, and for nothing else. It may use
// the cache.
func New[K comparable, V any](capacity int, onEvict func(K, V)) *Cache[K, V] {
	return &Cache[K, V]{capacity: capacity, onEvict: onEvict, order: list.New(), entries: map[K]*list.Element{}}
}

// Get returns a value, and makes its entry the one that was used last.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	if element, ok := c.entries[key]; ok {
		c.order.MoveToFront(element)
		return element.Value.(*entry[K, V]).value, true
	}
	var none V
	return none, false
}

// Peek returns a value without using its entry.
func (c *Cache[K, V]) Peek(key K) (V, bool) {
	if element, ok := c.entries[key]; ok {
		c.order.MoveToFront(element)
		return element.Value.(*entry[K, V]).value, true
	}
	var none V
	return none, false
}

// Put stores a value, and makes its entry the one that was used last. Entries that were not used for the longest time are
// pushed out; with a capacity of 0 or less that is the new entry itself.
func (c *Cache[K, V]) Put(key K, value V) {
	if element, ok := c.entries[key]; ok {
		element.Value.(*entry[K, V]).value = value
		return
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value})
	c.shrink()
}

// Remove removes an entry, and tells whether it was there.
func (c *Cache[K, V]) Remove(key K) bool {
	element, ok := c.entries[key]
	if ok {
		c.order.Remove(element)
		delete(c.entries, key)
	}
	return ok
}

// Resize changes the capacity. If there are too many entries, those that were not used for the longest time are pushed out first.
func (c *Cache[K, V]) Resize(capacity int) {
	c.capacity = capacity
	c.shrink()
}

// Keys returns the keys, the one that was used last first.
func (c *Cache[K, V]) Keys() []K {
	keys := make([]K, 0, len(c.entries))
	for element := c.order.Back(); element != nil; element = element.Prev() {
		keys = append(keys, element.Value.(*entry[K, V]).key)
	}
	return keys
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

func (c *Cache[K, V]) shrink() {
	for c.order.Len() > c.capacity {
		oldest := c.order.Back().Value.(*entry[K, V])
		if c.onEvict != nil {
			c.onEvict(oldest.key, oldest.value)
		}
		c.Remove(oldest.key)
	}
}

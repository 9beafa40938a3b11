// Package cache keeps results of another store.
package cache

import "example.test/kv/store"

var _ store.Store = (*Store)(nil)

// Store remembers what its inner store has returned.
type Store struct {
	inner store.Store
	known map[string]string
}

// New wraps a store.
func New(inner store.Store) *Store {
	return &Store{inner: inner, known: map[string]string{}}
}

// Get returns a value, from the inner store only once.
func (s *Store) Get(key string) (string, bool) {
	if value, ok := s.known[key]; ok {
		return value, true
	}
	value, ok := s.inner.Get(key)
	s.known[key] = value
	return value, ok
}

// Set stores a value.
func (s *Store) Set(key, value string) { s.inner.Set(key, value) }

// Delete removes a value.
func (s *Store) Delete(key string) { s.inner.Delete(key) }

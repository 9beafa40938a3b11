// Package memory keeps values in memory.
package memory

import (
	"sync"

	"example.test/kv/store"
)

var _ store.Store = (*Store)(nil)

// Store keeps values in a map.
type Store struct {
	mutex  sync.Mutex
	values map[string]string
}

// New creates an empty store.
func New() *Store { return &Store{values: map[string]string{}} }

// Get returns a value.
func (s *Store) Get(key string) (string, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	value, ok := s.values[key]
	return value, ok
}

// Set stores a value.
func (s *Store) Set(key, value string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.values[key] = value
}

// Delete removes a value.
func (s *Store) Delete(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.values, key)
}

// Package bitset stores sets of small numbers in bits.
package bitset

import "math/bits"

// Set is a set of numbers from 0. The zero value is empty. It uses as many words as its largest number needs.
type Set struct {
	words []uint64
}

// Add adds a number. Negative numbers are ignored.
func (s *Set) Add(n int) {
	for n/64 > len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[n/64] |= 1 << (n % 64)
}

// Remove removes a number. It is no error if it is not there.
func (s *Set) Remove(n int) {
	if n < 0 || n/64 >= len(s.words) {
		return
	}
	s.words[n/64] &^= 1 << (n % 64)
}

// Has tells whether a number is in the set.
func (s *Set) Has(n int) bool {
	return n/64 < len(s.words) && s.words[n/64]&(1<<(n%64)) != 0
}

// Len returns how many numbers are in the set.
func (s *Set) Len() int {
	count := 0
	for _, word := range s.words {
		count += bits.OnesCount64(word)
	}
	return count
}

// Next returns the smallest number of the set that is at least n, or -1.
func (s *Set) Next(n int) int {
	if n < 0 {
		n = 0
	}
	for i := n / 64; i < len(s.words); i++ {
		word := s.words[i]
		if i == n/64 {
			word >>= n % 64
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// Union returns a new set with the numbers of both.
func (s *Set) Union(other *Set) *Set {
	result := &Set{words: s.words}
	for i, word := range other.words {
		result.words[i] |= word
	}
	return result
}

// Without returns a new set with the numbers of s that are not in other.
func (s *Set) Without(other *Set) *Set {
	result := &Set{words: s.words}
	for i := 0; i < len(result.words) && i < len(other.words); i++ {
		result.words[i] &^= other.words[i]
	}
	result.trim()
	return result
}

// Equal tells whether both sets have the same numbers.
func (s *Set) Equal(other *Set) bool {
	if len(s.words) != len(other.words) {
		return false
	}
	for i, word := range s.words {
		if other.words[i] != word {
			return false
		}
	}
	return true
}

// Words returns how many words the set uses.
func (s *Set) Words() int { return len(s.words) }

func (s *Set) trim() {
	for len(s.words) > 0 && s.words[len(s.words)-1] == 0 {
		s.words = s.words[:len(s.words)-1]
	}
}

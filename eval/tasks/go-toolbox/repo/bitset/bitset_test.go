package bitset

import "testing"

func TestFarNumbers(t *testing.T) {
	var s Set
	s.Add(64)
	if !s.Has(64) || s.Has(0) || s.Next(1) != 64 || s.Len() != 1 {
		t.Fatal("64 is not found")
	}
}

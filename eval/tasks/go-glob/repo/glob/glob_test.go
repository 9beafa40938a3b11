package glob

import "testing"

func TestExamples(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "main.go", true},
		{"*.go", "cmd/main.go", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"*.{js,ts}", "x.ts", true},
	} {
		if got, err := Match(c.pattern, c.path); got != c.want || err != nil {
			t.Errorf("Match(%q, %q) = %v, %v", c.pattern, c.path, got, err)
		}
	}
}

package glob

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string
	}{
		{"*.go", "main.go .go", "cmd/main.go main.g main.go.x"},
		{"a?c", "abc aéc a😀c", "ac a/c abbc"},
		{"[abc]x[0-9]", "ax0 cx9", "dx0 ax ax10 ax/"},
		{"[!a-c]x", "dx éx !x", "ax bx x /x"},
		{"[]a]", "] a", "b []a]"},
		{"[!]a]", "b", "] a"},
		{"[-a]", "- a", "b"},
		{"[a-]", "- a", "b"},
		{"[α-ω]", "β ω", "a"},
		{"a[/]b", "", "a/b"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "a/xb ab a//x b a/b/c"},
		{"**", "a a/b .hidden/x", ""},
		{"**/x", "x a/x a/b/x", "ax a/xx x/a"},
		{"a/**", "a/b a/b/c", "a ab b/a"},
		{"a/**/**/b", "a/b a/x/b a/x/y/z/b", "a/bx"},
		{"a**b", "ab axxb", "a/b ax/b"},
		{"**a", "xa a", "x/a"},
		{"*/b", "a/b", "b a/c/b"},
		{"a/*", "a/b", "a a/b/c"},
		{"{a,b}/c", "a/c b/c", "c ab/c"},
		{"x{,y}z", "xz xyz", "xyyz"},
		{"{a/b,c}/d", "a/b/d c/d", "a/d b/d"},
		{"*.{js,t?}", "x.js x.ts x.tx", "x.t x.jsx"},
		{"{a,**/b}", "a b x/y/b", "x/a"},
		{"{x,y}{1,2}", "x1 x2 y1 y2", "x xy 12"},
		{`\*\?`, "*?", "ab **"},
		{`\{a,b}`, "{a,b}", "a"},
		{`[\]x]`, "] x", `\`},
		{`{a\,b,c}`, "a,b c", "a b"},
		{"a}b,c", "a}b,c", "ab"},
		{"", "", "a"},
	} {
		for _, path := range strings.Fields(c.yes) {
			if got, err := Match(c.pattern, path); !got || err != nil {
				t.Errorf("Match(%q, %q) = %v, %v", c.pattern, path, got, err)
			}
		}
		for _, path := range strings.Fields(c.no) {
			if got, err := Match(c.pattern, path); got || err != nil {
				t.Errorf("Match(%q, %q) = %v, %v", c.pattern, path, got, err)
			}
		}
	}
	if got, err := Match("", ""); !got || err != nil {
		t.Error("the empty pattern matches the empty path")
	}
}

func TestWrongPatterns(t *testing.T) {
	for _, pattern := range []string{"[a", "x[", "{a,b", `a\`, "[]", "[!]", "[z-a]", "{a,{b,c}}", "zzz[", "{[a}", `[a\`, `{a\`} {
		for _, path := range []string{"", "a", "nothing/at/all"} {
			if got, err := Match(pattern, path); got || !errors.Is(err, ErrPattern) {
				t.Errorf("Match(%q, %q) = %v, %v", pattern, path, got, err)
			}
		}
	}
}

func TestTime(t *testing.T) {
	start := time.Now()
	for _, c := range [][2]string{
		{strings.Repeat("a*", 30) + "b", strings.Repeat("a", 2000)},
		{strings.Repeat("**/a/", 12) + "b", strings.Repeat("a/", 400) + "c"},
		{strings.Repeat("{a,b}*", 8) + "c", strings.Repeat("ab", 100)},
	} {
		if got, err := Match(c[0], c[1]); got || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

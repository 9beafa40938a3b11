package span

import (
	"testing"
	"time"
)

func TestExamples(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1w2d":   9 * 24 * time.Hour,
		"-36h":   -36 * time.Hour,
		"1d 12h": 36 * time.Hour,
		"1h2.5m": time.Hour + 150*time.Second,
		"0":      0,
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) = %v, %v", text, got, err)
		}
	}
	if got := Format(9*24*time.Hour + 5*time.Millisecond); got != "1w2d5ms" {
		t.Errorf("Format: %q", got)
	}
	if _, err := Parse("1x"); err == nil || err.Error() != `span: "1x": unknown unit at 1` {
		t.Errorf("%v", err)
	}
}

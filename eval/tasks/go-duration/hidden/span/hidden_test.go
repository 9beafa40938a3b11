package span

import (
	"math"
	"math/rand"
	"regexp"
	"strconv"
	"testing"
	"time"
)

func TestValid(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "-0": 0, "+0": 0, "0s": 0, "007m": 7 * time.Minute, "+1h": time.Hour, "1h30m": 90 * time.Minute,
		"1w 2d 3h 4m 5s 6ms 7us 8ns": 9*24*time.Hour + 3*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond + 7*time.Microsecond + 8,
		"-1d  12h": -36 * time.Hour, "0.5d": 12 * time.Hour, "1.000000001s": time.Second + 1, "1.5us": 1500,
		"0.25w": 42 * time.Hour, "1h0.50m": time.Hour + 30*time.Second, "1m1ms": time.Minute + time.Millisecond,
		"9223372036854775807ns": math.MaxInt64, "-9223372036854775808ns": math.MinInt64,
		"2.0ns": 2, "0.00000000000000000000h": 0, "100000000000000ns": 100000000000000,
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	position := regexp.MustCompile(` at (\d+)$`)
	for text, want := range map[string]int{
		"": 0, "-": 1, "1": 1, "1h2": 3, "1x": 1, "h": 0, "1h,2m": 2, "--1h": 1, "1h-2m": 2, "1m2x": 3,
		"1hh": -1, "1 h": -1, "- 1h": -1, "1h 1d": -1, "1h1h": -1, "1m1h": -1, "1.5h2m": -1, ".5h": -1, "1.h": -1, "1e3s": -1,
	} {
		_, err := Parse(text)
		if err == nil {
			t.Errorf("Parse(%q) succeeded", text)
			continue
		}
		found := position.FindStringSubmatch(err.Error())
		prefix := "span: " + strconv.Quote(text) + ": "
		if found == nil || len(err.Error()) < len(prefix) || err.Error()[:len(prefix)] != prefix {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		if at, _ := strconv.Atoi(found[1]); want >= 0 && at != want {
			t.Errorf("Parse(%q): %v, not at %d", text, err, want)
		}
	}
	for _, text := range []string{
		" 1h", "1h ", "0.1ns", "1.0000000001s", "0.33333333333333h", "9223372036854775808ns", "-9223372036854775809ns",
		"15251w", "106752d", "99999999999999999999h", "1µs", "1H", "0 ", "00", "1h 2",
	} {
		if got, err := Parse(text); err == nil && text != "00" {
			t.Errorf("Parse(%q) = %v", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 1: "1ns", 90 * time.Minute: "1h30m", -90 * time.Minute: "-1h30m", 8 * 24 * time.Hour: "1w1d",
		time.Second + 1500*time.Nanosecond: "1s1us500ns", math.MaxInt64: "15250w1d23h47m16s854ms775us807ns",
		math.MinInt64: "-15250w1d23h47m16s854ms775us808ns",
	} {
		if got := Format(d); got != want {
			t.Errorf("Format(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	for i := 0; i < 20000; i++ {
		d := time.Duration(random.Uint64()) >> uint(random.Intn(63))
		if got, err := Parse(Format(d)); got != d || err != nil {
			t.Fatalf("%d: %q gives %d, %v", d, Format(d), got, err)
		}
	}
}

package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestOrderAndError(t *testing.T) {
	inputs := make(chan int)
	go func() {
		defer close(inputs)
		for n := 0; n < 10; n++ {
			inputs <- n
		}
	}()
	failure := errors.New("no sevens")
	outputs, wait := Map(context.Background(), 3, inputs, func(_ context.Context, n int) (int, error) {
		time.Sleep(time.Duration(10-n) * time.Millisecond)
		if n == 7 {
			return 0, failure
		}
		return n * n, nil
	})
	var got []int
	for output := range outputs {
		got = append(got, output)
	}
	if len(got) != 7 || got[6] != 36 {
		t.Fatal(got)
	}
	// The producer must not be left waiting.
	go func() {
		for range inputs {
		}
	}()
	if err := wait(); err != failure {
		t.Fatal(err)
	}
}

package pipeline

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func produce(count int) <-chan int {
	inputs := make(chan int, count)
	for n := 0; n < count; n++ {
		inputs <- n
	}
	close(inputs)
	return inputs
}

func checkLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for try := 0; try < 200 && runtime.NumGoroutine() > before; try++ {
			time.Sleep(10 * time.Millisecond)
		}
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d goroutines before, %d after", before, now)
		}
	})
}

func TestInOrderWithinTheLimit(t *testing.T) {
	checkLeaks(t)
	var running, most int32
	outputs, wait := Map(context.Background(), 4, produce(200), func(_ context.Context, n int) (int, error) {
		now := atomic.AddInt32(&running, 1)
		for {
			old := atomic.LoadInt32(&most)
			if now <= old || atomic.CompareAndSwapInt32(&most, old, now) {
				break
			}
		}
		time.Sleep(time.Duration(n%7) * 100 * time.Microsecond)
		atomic.AddInt32(&running, -1)
		return n, nil
	})
	next := 0
	for output := range outputs {
		if output != next {
			t.Fatalf("%d instead of %d", output, next)
		}
		next++
	}
	if err := wait(); err != nil || next != 200 || most > 4 || most < 2 {
		t.Fatalf("%v, %d results, %d at a time", err, next, most)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
}

func TestFewWorkersAndNoInput(t *testing.T) {
	checkLeaks(t)
	outputs, wait := Map(context.Background(), 0, produce(3), func(_ context.Context, n int) (int, error) { return n, nil })
	count := 0
	for range outputs {
		count++
	}
	if wait() != nil || count != 3 {
		t.Fatal(count)
	}
	none, waitNone := Map(context.Background(), 2, produce(0), func(_ context.Context, n int) (int, error) { return n, nil })
	if _, ok := <-none; ok || waitNone() != nil {
		t.Fatal("results without input")
	}
}

func TestFailure(t *testing.T) {
	checkLeaks(t)
	failure := errors.New("failed")
	var started int32
	inputs := make(chan int, 1000)
	for n := 0; n < 1000; n++ {
		inputs <- n
	}
	outputs, wait := Map(context.Background(), 4, inputs, func(ctx context.Context, n int) (int, error) {
		atomic.AddInt32(&started, 1)
		if n == 10 {
			return 0, failure
		}
		if n > 10 {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(5 * time.Second):
			}
		}
		time.Sleep(time.Millisecond)
		return n, nil
	})
	next := 0
	for output := range outputs {
		if output != next {
			t.Fatalf("%d instead of %d", output, next)
		}
		next++
	}
	if err := wait(); err != failure || next != 10 {
		t.Fatalf("%v after %d results", err, next)
	}
	if started > 25 {
		t.Fatalf("%d calls", started)
	}
}

func TestTheEarliestInputWins(t *testing.T) {
	checkLeaks(t)
	first, second := errors.New("first"), errors.New("second")
	bothRun := make(chan struct{})
	_, wait := Map(context.Background(), 2, produce(2), func(_ context.Context, n int) (int, error) {
		if n == 1 {
			<-bothRun
			return 0, second
		}
		close(bothRun)
		time.Sleep(30 * time.Millisecond)
		return 0, first
	})
	if err := wait(); err != first {
		t.Fatal(err)
	}
}

func TestCancelledAndNotRead(t *testing.T) {
	checkLeaks(t)
	ctx, cancel := context.WithCancel(context.Background())
	inputs := make(chan int)
	_, wait := Map(ctx, 3, inputs, func(ctx context.Context, n int) (int, error) { return n, nil })
	inputs <- 1
	inputs <- 2
	cancel()
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("wait hangs")
	}
}

func TestBoundedReadAhead(t *testing.T) {
	checkLeaks(t)
	ctx, cancel := context.WithCancel(context.Background())
	inputs := make(chan int)
	var taken int32
	stop := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case inputs <- n:
				atomic.AddInt32(&taken, 1)
			case <-stop:
				return
			}
		}
	}()
	outputs, wait := Map(ctx, 3, inputs, func(_ context.Context, n int) (int, error) { return n, nil })
	time.Sleep(100 * time.Millisecond)
	if got := atomic.LoadInt32(&taken); got > 6 || got < 3 {
		t.Errorf("%d inputs were taken", got)
	}
	for n := 0; n < 5; n++ {
		<-outputs
	}
	time.Sleep(100 * time.Millisecond)
	if got := atomic.LoadInt32(&taken); got > 11 {
		t.Errorf("%d inputs were taken for 5 results", got)
	}
	cancel()
	wait()
	close(stop)
}

func TestPanic(t *testing.T) {
	checkLeaks(t)
	_, wait := Map(context.Background(), 2, produce(1), func(context.Context, int) (int, error) { panic("oh no") })
	if err := wait(); err == nil || !strings.Contains(err.Error(), "oh no") {
		t.Fatal(err)
	}
}

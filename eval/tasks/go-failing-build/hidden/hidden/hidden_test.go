package hidden

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"example.test/kv/api"
	"example.test/kv/cache"
	"example.test/kv/memory"
	"example.test/kv/store"
)

func TestMemory(t *testing.T) {
	ctx := context.Background()
	s := memory.New()
	if _, err := s.Get(ctx, "some-key"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "some-key") {
		t.Fatalf("Get: %v", err)
	}
	if err := s.Delete(ctx, "some-key"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "some-key") {
		t.Fatalf("Delete: %v", err)
	}
	if err := s.Set(ctx, "a", "1"); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Set(done, "a", "2"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Set: %v", err)
	}
	if err := s.Delete(done, "a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Delete: %v", err)
	}
	if _, err := s.Get(done, "a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Get: %v", err)
	}
	if value, err := s.Get(ctx, "a"); value != "1" || err != nil {
		t.Fatalf("Get: %q %v", value, err)
	}
}

// counting counts calls of Get and can fail.
type counting struct {
	store.Store
	mutex sync.Mutex
	gets  int
	fail  error
}

func (c *counting) Get(ctx context.Context, key string) (string, error) {
	c.mutex.Lock()
	c.gets++
	fail := c.fail
	c.mutex.Unlock()
	if fail != nil {
		return "", fail
	}
	return c.Store.Get(ctx, key)
}

func TestCache(t *testing.T) {
	ctx := context.Background()
	inner := &counting{Store: memory.New()}
	s := cache.New(inner)
	if _, err := s.Get(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	_ = s.Set(ctx, "a", "1")
	for i := 0; i < 3; i++ {
		if value, err := s.Get(ctx, "a"); value != "1" || err != nil {
			t.Fatalf("%q %v", value, err)
		}
	}
	if inner.gets > 2 {
		t.Fatalf("%d calls of the inner Get", inner.gets)
	}
	_ = s.Set(ctx, "a", "2")
	if value, _ := s.Get(ctx, "a"); value != "2" {
		t.Fatalf("after Set: %q", value)
	}
	_ = s.Delete(ctx, "a")
	if _, err := s.Get(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("after Delete: %v", err)
	}
	inner.fail = errors.New("down")
	if _, err := s.Get(ctx, "b"); err != inner.fail {
		t.Fatal(err)
	}
	inner.fail = nil
	_ = inner.Store.Set(ctx, "b", "3")
	if value, err := s.Get(ctx, "b"); value != "3" || err != nil {
		t.Fatalf("a failure was kept: %q %v", value, err)
	}
	if err := s.Delete(ctx, "zz"); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := cache.New(memory.New())
	var group sync.WaitGroup
	for n := 0; n < 16; n++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			for i := 0; i < 2000; i++ {
				key := fmt.Sprint(i % 50)
				_ = s.Set(context.Background(), key, "v")
				_, _ = s.Get(context.Background(), key)
			}
		}(n)
	}
	group.Wait()
}

type failing struct{ err error }

func (f failing) Get(context.Context, string) (string, error)  { return "", f.err }
func (f failing) Set(context.Context, string, string) error    { return f.err }
func (f failing) Delete(context.Context, string) error         { return f.err }

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("x: %w", store.ErrNotFound), 404},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 504},
		{context.Canceled, 504},
		{errors.New("disk"), 500},
	} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			w := httptest.NewRecorder()
			api.Handler{Store: failing{c.err}}.ServeHTTP(w, httptest.NewRequest(method, "/k", strings.NewReader("v")))
			if w.Code != c.want {
				t.Errorf("%s %v: %d, not %d", method, c.err, w.Code, c.want)
			}
		}
	}
	w := httptest.NewRecorder()
	api.Handler{Store: memory.New()}.ServeHTTP(w, httptest.NewRequest("POST", "/k", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestPassesTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	s := memory.New()
	api.Handler{Store: cache.New(s)}.ServeHTTP(w, httptest.NewRequest("PUT", "/k", strings.NewReader("v")).WithContext(ctx))
	if _, err := s.Get(context.Background(), "k"); w.Code != 504 || err == nil {
		t.Errorf("%d %v", w.Code, err)
	}
}

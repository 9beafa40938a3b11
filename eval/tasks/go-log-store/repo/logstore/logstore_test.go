package logstore

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRecovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	store, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "", "three"} {
		if err := store.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	store.Close()
	info, _ := os.Stat(path)
	if err := os.Truncate(path, info.Size()-2); err != nil {
		t.Fatal(err)
	}
	store, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if got := store.All(); len(got) != 2 || store.Cut != 11 {
		t.Fatalf("%q, cut %d", got, store.Cut)
	}
}

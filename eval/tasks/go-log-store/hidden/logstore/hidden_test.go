package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func encode(records ...string) []byte {
	var out []byte
	for _, text := range records {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(text)))
		out = append(out, text...)
	}
	return out
}

func texts(s *Store) string { return fmt.Sprintf("%q", s.All()) }

func TestEveryPrefix(t *testing.T) {
	whole := encode("alpha", "", "gamma delta")
	ends := []int{0, 13, 21, 40}
	for length := 0; length <= len(whole); length++ {
		path := filepath.Join(t.TempDir(), "log")
		os.WriteFile(path, whole[:length], 0o600)
		store, err := Open(path)
		if err != nil {
			t.Fatalf("%d: %v", length, err)
		}
		good := 0
		for good < 3 && ends[good+1] <= length {
			good++
		}
		if len(store.All()) != good || store.Cut != int64(length-ends[good]) {
			t.Fatalf("%d: %s, cut %d", length, texts(store), store.Cut)
		}
		if err := store.Append([]byte("new")); err != nil {
			t.Fatal(err)
		}
		store.Close()
		want := append(append([]byte{}, whole[:ends[good]]...), encode("new")...)
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
			t.Fatalf("%d: %x, want %x", length, got, want)
		}
	}
}

func TestDamage(t *testing.T) {
	whole := encode("alpha", "beta", "gamma")
	for at := 13; at < 25; at++ {
		damaged := append([]byte{}, whole...)
		damaged[at] ^= 0x40
		path := filepath.Join(t.TempDir(), "log")
		os.WriteFile(path, damaged, 0o600)
		store, err := Open(path)
		if err != nil {
			t.Fatalf("%d: %v", at, err)
		}
		if texts(store) != `["alpha"]` || store.Cut != int64(len(whole)-13) {
			t.Fatalf("%d: %s, cut %d", at, texts(store), store.Cut)
		}
		store.Close()
		if info, _ := os.Stat(path); info.Size() != 13 {
			t.Fatalf("size %d", info.Size())
		}
	}
}

func TestHugeLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	os.WriteFile(path, append(encode("a"), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1), 0o600)
	allocated := testing.AllocsPerRun(1, func() {})
	_ = allocated
	store, err := Open(path)
	if err != nil || len(store.All()) != 1 || store.Cut != 9 {
		t.Fatalf("%v %v", store, err)
	}
	store.Close()
}

func TestLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	store, _ := Open(path)
	if err := store.Append(make([]byte, MaxRecord+1)); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if err := store.Append(make([]byte, MaxRecord)); err != nil {
		t.Fatal(err)
	}
	store.Close()
	again, err := Open(path)
	if err != nil || len(again.All()) != 1 || again.Cut != 0 {
		t.Fatal(err)
	}
}

func TestCopies(t *testing.T) {
	store, _ := Open(filepath.Join(t.TempDir(), "log"))
	data := []byte("abc")
	store.Append(data)
	data[0] = 'x'
	store.All()[0][1] = 'y'
	list := store.All()
	list[0] = nil
	if texts(store) != `["abc"]` {
		t.Fatal(texts(store))
	}
}

// memory is a file in memory that can fail.
type memory struct {
	data                 []byte
	at                   int64
	writes, syncs        int
	failAfter            int
	failWrite, failTrunc error
	failSync             error
}

func (m *memory) Read(p []byte) (int, error) {
	if m.at >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[m.at:])
	m.at += int64(n)
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) {
	m.writes++
	n := len(p)
	if m.failWrite != nil && n > m.failAfter {
		n = m.failAfter
	}
	m.data = append(m.data[:m.at], p[:n]...)
	m.at += int64(n)
	if n < len(p) {
		return n, m.failWrite
	}
	return n, nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		m.at = offset
	case io.SeekCurrent:
		m.at += offset
	case io.SeekEnd:
		m.at = int64(len(m.data)) + offset
	}
	return m.at, nil
}

func (m *memory) Truncate(size int64) error {
	if m.failTrunc != nil {
		return m.failTrunc
	}
	m.data = m.data[:size]
	return nil
}
func (m *memory) Sync() error  { m.syncs++; return m.failSync }
func (m *memory) Close() error { return nil }

func TestOneWriteAndSync(t *testing.T) {
	file := &memory{}
	store, err := OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := file.syncs
	store.Append([]byte("abc"))
	if file.writes != 1 || file.syncs != before+1 || !bytes.Equal(file.data, encode("abc")) {
		t.Fatalf("%d writes, %d syncs, %x", file.writes, file.syncs, file.data)
	}
}

func TestFailedWrite(t *testing.T) {
	file := &memory{}
	store, _ := OpenFile(file)
	store.Append([]byte("one"))
	file.failWrite, file.failAfter = errors.New("disk full"), 5
	if err := store.Append([]byte("two")); !errors.Is(err, file.failWrite) {
		t.Fatal(err)
	}
	if !bytes.Equal(file.data, encode("one")) || texts(store) != `["one"]` {
		t.Fatalf("%x %s", file.data, texts(store))
	}
	file.failWrite = nil
	if err := store.Append([]byte("three")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.data, encode("one", "three")) || texts(store) != `["one" "three"]` {
		t.Fatalf("%x", file.data)
	}
}

func TestFailedCut(t *testing.T) {
	file := &memory{}
	store, _ := OpenFile(file)
	store.Append([]byte("one"))
	file.failWrite, file.failAfter, file.failTrunc = errors.New("disk full"), 5, errors.New("read-only")
	if err := store.Append([]byte("two")); err == nil {
		t.Fatal("no error")
	}
	writes := file.writes
	broken := file.failTrunc
	file.failWrite, file.failTrunc = nil, nil
	for i := 0; i < 2; i++ {
		if err := store.Append([]byte("three")); !errors.Is(err, broken) {
			t.Fatalf("%v", err)
		}
	}
	if file.writes != writes {
		t.Fatal("it wrote behind a damaged record")
	}
}

func TestGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	store, _ := Open(path)
	var group sync.WaitGroup
	for n := 0; n < 8; n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 25; i++ {
				store.Append([]byte("some data"))
				store.All()
			}
		}()
	}
	group.Wait()
	store.Close()
	again, err := Open(path)
	if err != nil || len(again.All()) != 200 || again.Cut != 0 {
		t.Fatalf("%v", err)
	}
}

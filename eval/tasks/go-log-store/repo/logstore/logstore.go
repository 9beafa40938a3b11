// Package logstore keeps records in an append-only file.
package logstore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
)

// MaxRecord is the largest size of a record in bytes.
const MaxRecord = 1 << 20

// ErrTooLarge reports a record that is larger than MaxRecord.
var ErrTooLarge = errors.New("logstore: record too large")

// File is what a Store needs of a file.
type File interface {
	io.Reader
	io.Writer
	io.Seeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Store is an open file of records.
type Store struct {
	// Cut is the number of bytes that Open removed from the end of the file.
	Cut     int64
	file    File
	records [][]byte
}

// Open opens or creates a file.
func Open(path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return OpenFile(file)
}

// OpenFile reads the records of a file. It closes the file if that fails.
func OpenFile(file File) (*Store, error) {
	store := &Store{file: file}
	for {
		var header [8]byte
		if _, err := io.ReadFull(file, header[:]); err == io.EOF {
			return store, nil
		} else if err != nil {
			return nil, err
		}
		data := make([]byte, binary.LittleEndian.Uint32(header[:4]))
		if _, err := io.ReadFull(file, data); err != nil {
			return nil, err
		}
		store.records = append(store.records, data)
	}
}

// Append adds a record.
func (s *Store) Append(data []byte) error {
	var header [8]byte
	binary.LittleEndian.PutUint32(header[:4], uint32(len(data)))
	binary.LittleEndian.PutUint32(header[4:], crc32.ChecksumIEEE(data))
	if _, err := s.file.Write(header[:]); err != nil {
		return err
	}
	if _, err := s.file.Write(data); err != nil {
		return err
	}
	s.records = append(s.records, data)
	return nil
}

// All returns all records.
func (s *Store) All() [][]byte { return s.records }

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

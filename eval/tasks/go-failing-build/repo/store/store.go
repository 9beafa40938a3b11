// Package store defines what a key-value store can do.
package store

import (
	"context"
	"errors"
)

// ErrNotFound reports that a key has no value.
var ErrNotFound = errors.New("not found")

// Store keeps values by key.
type Store interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, value string) error
	Delete(ctx context.Context, key string) error
}

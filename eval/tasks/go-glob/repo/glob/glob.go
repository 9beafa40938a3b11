// Package glob matches paths with patterns.
package glob

import "errors"

// ErrPattern reports a pattern that is not valid.
var ErrPattern = errors.New("glob: wrong pattern")

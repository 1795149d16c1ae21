//go:build !(darwin || linux || windows)

package doctor

import "errors"

// FreeBytes returns [errors.ErrUnsupported].
func FreeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

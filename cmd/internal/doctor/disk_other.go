//go:build !(darwin || linux || windows)

package doctor

import "errors"

func diskOf(string) (disk, error) { return disk{}, errors.ErrUnsupported }

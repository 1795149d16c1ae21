//go:build !windows

package storage

import "os"

// appendFlag makes every write go to the end of the file.
const appendFlag = os.O_APPEND

// Package candor is planted.
package candor

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// ErrX is an error.
var ErrX = errors.New("x")

// F plants.
func F(err error) bool {
	_ = cobra.X
	_ = time.Now()
	_, _ = os.Open("x")
	_ = os.ErrDeadlineExceeded
	if err == ErrX {
		panic("x")
	}
	return false
}

func Undocumented() {}

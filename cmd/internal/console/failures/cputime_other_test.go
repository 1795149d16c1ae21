//go:build !unix

package failures_test

import "time"

// cpuTime returns 0: the processor time is measured on Unix only.
func cpuTime() time.Duration { return 0 }

//go:build !unix

package http1

import "syscall"

// quiet cannot be told here: a connection is taken to be good as long as it may be kept.
func quiet(syscall.RawConn) func() bool { return nil }

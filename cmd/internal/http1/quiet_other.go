//go:build !unix

package http1

import "syscall"

// quiet is not implemented on this system: an idle connection is assumed to be open.
func quiet(syscall.RawConn) func() bool { return nil }

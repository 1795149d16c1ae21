// Package oserror recognises errors of the operating system that have a different number on each system.
//
// The constants of package syscall are not enough: on Windows syscall.ENOSPC and its like are numbers that Go has
// invented, which no call returns.
package oserror

import (
	"errors"
	"syscall"
)

// IsFull reports whether err means that the disk or the quota is full.
func IsFull(err error) bool { return isAny(err, full) }

// IsClosedPipe reports whether err means that the other end of a pipe or of a connection is closed.
func IsClosedPipe(err error) bool { return isAny(err, closedPipe) }

// IsReset reports whether err means that the peer has reset the connection.
func IsReset(err error) bool { return isAny(err, reset) }

// IsRefused reports whether err means that no process listens at the address.
func IsRefused(err error) bool { return isAny(err, refused) }

func isAny(err error, numbers []syscall.Errno) bool {
	for _, n := range numbers {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}

//go:build !linux

package fakeupstream

import "errors"

var errNotLinux = errors.New("the fake upstream needs the network namespaces of Linux (hint: run the probe in a Linux container or virtual machine)")

// Available returns an error: the fake upstream needs Linux.
func Available() error { return errNotLinux }

// InsideMain is the hidden command probe-inside.
func InsideMain(_ []string) error { return errNotLinux }

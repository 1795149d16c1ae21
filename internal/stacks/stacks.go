// Package stacks holds the switch with which a program captures the stacks of its errors.
package stacks

import "sync/atomic"

// Captured makes candor.New attach the stack of its caller to every error of the process, which costs some microseconds.
var Captured atomic.Bool

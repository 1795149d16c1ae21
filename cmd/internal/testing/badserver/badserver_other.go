//go:build !unix

// Package badserver is empty on this system, because its faults require Unix.
package badserver

// Env is the variable that makes a binary this server.
const Env = "CANDOR_BAD_SERVER"

// Begun is not written.
const Begun = "badserver: a call has begun"

// Wanted returns false.
func Wanted() bool { return false }

// Main returns 1.
func Main() int { return 1 }

// Faults returns nil.
func Faults() []string { return nil }

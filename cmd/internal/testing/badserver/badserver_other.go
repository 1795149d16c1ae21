//go:build !unix

// Package badserver exists on Unix only, because its faults need Unix.
package badserver

// Env is the variable that makes a binary this server.
const Env = "CANDOR_BAD_SERVER"

// Wanted reports that this process is to be the server: never.
func Wanted() bool { return false }

// Main returns 1.
func Main() int { return 1 }

// Faults returns none.
func Faults() []string { return nil }

//go:build race

package testbinary

// Raced reports whether the tests are built with the race detector; the command is then built with it, too.
const Raced = true

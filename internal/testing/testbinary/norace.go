//go:build !race

package testbinary

// Raced reports whether the tests are built with the race detector.
const Raced = false

//go:build !race

package kaiza_test

// raced reports whether the tests are built with the race detector.
const raced = false

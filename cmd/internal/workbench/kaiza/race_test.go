//go:build race

package kaiza_test

// raced reports whether the tests, and the server, are built with the race detector.
const raced = true

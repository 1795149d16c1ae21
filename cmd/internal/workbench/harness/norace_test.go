//go:build !race

package harness_test

// raced reports whether these tests are built with the race detector.
const raced = false

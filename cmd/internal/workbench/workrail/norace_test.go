//go:build !race

package workrail_test

// raced says that these tests are built with the race detector.
const raced = false

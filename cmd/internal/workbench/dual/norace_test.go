//go:build !race

package dual_test

// raced says that these tests are built with the race detector.
const raced = false

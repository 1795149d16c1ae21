//go:build race

package harness_test

// raced says that these tests are built with the race detector; then the server is too.
const raced = true

//go:build race

package dual_test

// raced says that these tests are built with the race detector; then the server is too.
const raced = true

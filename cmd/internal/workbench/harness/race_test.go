//go:build race

package harness_test

// raced reports whether these tests are built with the race detector; the server is then built with it, too.
const raced = true

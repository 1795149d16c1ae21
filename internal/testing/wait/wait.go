// Package wait lets a test wait for an event, for as long as a busy machine may need.
package wait

import (
	"errors"
	"testing"
	"time"
)

// limit is longer than any event takes on a busy machine.
const limit = 2 * time.Minute

// longestPause lies between two checks of an event that takes long; some checks start a process.
const longestPause = 50 * time.Millisecond

// Until returns when done returns true, and fails the test after two minutes.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	For(t, what, func() error {
		if !done() {
			return errors.New("not yet")
		}
		return nil
	})
}

// For returns when check returns nil. It fails the test with the last error after two minutes.
func For(t testing.TB, what string, check func() error) {
	t.Helper()
	for end, pause := time.Now().Add(limit), time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s: %v", limit, what, err)
		}
		time.Sleep(pause) // the poll of all tests
	}
}

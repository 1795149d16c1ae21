//go:build unix

package ledger

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestBlockingWitnessCopyDoesNotDelay checks that a pipe that is never read, and a file whose writes never return, block
// neither Append nor Close.
func TestBlockingWitnessCopyDoesNotDelay(t *testing.T) {
	t.Run("pipe", func(t *testing.T) {
		base := t.TempDir()
		second := filepath.Join(base, "second")
		if err := syscall.Mkfifo(second, 0o600); err != nil {
			t.Skip(err)
		}
		warned := make(chan Warning, 16)
		endsWith(t, warned, func() error { return openAppendClose(filepath.Join(base, "ledger"), second, warned) })
	})
	t.Run("stalled file", func(t *testing.T) {
		stall := make(chan struct{})
		defer close(stall)
		p := &witnessCopy{path: "second", wait: 10 * time.Millisecond}
		for range 2 {
			if err := p.within(func() error { <-stall; return nil }); err == nil {
				t.Error("a write that did not end is said to be done")
			}
		}
	})
}

func openAppendClose(dir, second string, warned chan Warning) error {
	l, err := Open(dir, Options{WitnessCopy: second, OnWarning: func(w Warning) { warned <- w }})
	if err != nil {
		return err
	}
	if _, err := l.Append(context.Background(), Entry{Kind: KindSuccess, Tool: "t"}); err != nil {
		return err
	}
	return l.Close()
}

func endsWith(t *testing.T, warned chan Warning, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the ledger hangs")
	}
	select {
	case w := <-warned:
		if w.Kind != warningWitnessCopy {
			t.Errorf("warning %v", w)
		}
	default:
		t.Error("no warning")
	}
}

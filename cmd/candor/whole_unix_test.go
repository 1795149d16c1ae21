//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestADeviceIsWrittenToAndNotReplaced gives a pipe as the file of a report: renaming a file over it would take it away from whoever reads.
func TestADeviceIsWrittenToAndNotReplaced(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		f, err := os.Open(name)
		if err != nil {
			heard <- err.Error()
			return
		}
		text, _ := io.ReadAll(f)
		heard <- string(text)
	}()
	if err := writeWhole(name, []byte("report")); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "report" {
		t.Errorf("the reader of the pipe got %q", got)
	}
	if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v %v", info, err)
	}
}

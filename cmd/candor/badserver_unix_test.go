//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/testing/badserver"
)

func serveBadly() { os.Exit(badserver.Main()) }

// installed returns a folder in which this test binary is installed as candor and as badserver. A guard is started by the name of
// the executable, so changing the first argument would not be enough.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{term.ProgramName, "badserver", "shop"} {
		to := filepath.Join(dir, name)
		if os.Link(self, to) == nil {
			continue
		}
		if err := copyFile(self, to); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

//go:build unix

package term_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestReplaceFileKeepsDanglingLink includes a link to another link, and one to itself.
func TestReplaceFileKeepsDanglingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, loop := filepath.Join(dir, "link"), filepath.Join(dir, "loop")
	for from, to := range map[string]string{link: "second", filepath.Join(dir, "second"): filepath.Join(dir, "file"), loop: "loop"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := term.ReplaceFile(link, []byte("report"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(text) != "report" {
		t.Errorf("the target has %q, %v", text, err)
	}
	if err := term.ReplaceFile(loop, []byte("report"), 0o600); err == nil {
		t.Error("a link that leads to itself was written to")
	}
	for _, name := range []string{link, loop} {
		if _, err := os.Readlink(name); err != nil {
			t.Errorf("%s is not a link any more: %v", filepath.Base(name), err)
		}
	}
}

// TestReplaceFileDoesNotReplaceDevice uses a pipe as the file of a report: renaming a file over it would remove it for its reader.
func TestReplaceFileDoesNotReplaceDevice(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	received := make(chan string, 1)
	go func() {
		f, err := os.Open(name)
		if err != nil {
			received <- err.Error()
			return
		}
		text, _ := io.ReadAll(f)
		received <- string(text)
	}()
	if err := term.ReplaceFile(name, []byte("report"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-received; got != "report" {
		t.Errorf("the reader of the pipe got %q", got)
	}
	if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v %v", info, err)
	}
}

package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileNamesCannotForgeLines lists files with names that contain line ends and terminal escape sequences.
func TestFileNamesCannotForgeLines(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	files := 2 // including the folder src
	for _, name := range []string{"a\nforged.txt\t9 bytes", "b\x1b[2J", "c\u202e", "d\xff"} {
		if os.WriteFile(filepath.Join(p.work, name), []byte("needle\n"), 0o600) == nil { // some systems refuse such names
			files++
		}
	}
	p.write("plain ü.txt", "needle\n")
	c := p.start()
	c.begin("WINDSURF")
	a := c.call("list_dir", args{"path": "."})
	a.fine()
	text := strings.TrimSuffix(a.text("content", 0, "text"), "\n")
	if got := strings.Split(text, "\n"); len(got) != files || strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "\nplain ü.txt") {
		t.Errorf("list_dir says %q", text)
	}
}

package kaiza_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the shipped program. These tests drive it as clients do and see nothing of its inside.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kaiza")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "candor")
	args := []string{"build", "-o", binary}
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "github.com/candor-mcp/candor/cmd/candor")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building candor: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

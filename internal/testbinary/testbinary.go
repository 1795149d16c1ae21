// Package testbinary builds the candor command for tests that drive it as clients do.
package testbinary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Run builds the command into a temporary folder, stores its path and runs the tests. It keeps them out of the user's state folder
// and returns the exit code for [os.Exit]. race builds with the race detector.
func Run(m interface{ Run() int }, race bool, path *string) int {
	dir, err := os.MkdirTemp("", "candor")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // cannot fail: the name is valid
	*path = filepath.Join(dir, "candor")
	args := []string{"build", "-o", *path}
	if race {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(context.Background(), "go", append(args, "github.com/candor-mcp/candor/cmd/candor")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building candor: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

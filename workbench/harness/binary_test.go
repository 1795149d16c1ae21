package harness_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the shipped program. The tests of this package drive it as clients do.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("H4|H9|H18|SurvivesKill|SessionsInParallel|TwoHarnesses") // calls run beside each other there; the rest runs without the detector
	}
	dir, err := os.MkdirTemp("", "harness")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "candor")
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // keeps tests out of the user's state folder; the name is valid
	build := []string{"build", "-o", binary}
	if raced {
		build = append(build, "-race")
	}
	if out, err := exec.Command("go", append(build, "github.com/candor-mcp/candor/cmd/candor")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building candor: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

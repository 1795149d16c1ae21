package dual_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the shipped program. The tests of this package drive it as clients do and see nothing of its inside.
var binary string

var long = flag.Bool("long", false, "run the long forms: 200 kills, 500 fights")

// rounds returns how often a test repeats something.
func rounds(usual, many int) int {
	switch {
	case *long:
		return many
	case testing.Short():
		return max(1, usual/4)
	default:
		return usual
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("D13|D11") // calls run beside each other there only; the rest runs without the detector
	}
	dir, err := os.MkdirTemp("", "dual")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "candor")
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // no test writes into the state folder of the user; the name is valid
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

package kaiza_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the shipped program. These tests drive it as clients do and see nothing of its inside.
var binary string

// sideBySide are the tests in which calls run beside each other: what the race detector is for. All others have one client, and a server
// that is built with the detector starts slowly; in a hurry they run without it only.
const sideBySide = "Story|Races|ManyClients|K10OfMany|K11ASecond|K18|ARaceFor|WhoBegins|K6"

func TestMain(m *testing.M) {
	asLauncher()
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set(sideBySide)
	}
	dir, err := os.MkdirTemp("", "kaiza")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "candor")
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // no test writes into the state folder of the user; the name is valid
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

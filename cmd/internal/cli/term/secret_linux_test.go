package term_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// A child cannot read the variable in /proc either. The test does not read it there, because root can.
func TestWithheldVariableIsNotInProc(t *testing.T) {
	t.Setenv("CANDOR_TEST_SECRET", "hunter2hunter2")
	term.Withhold("CANDOR_TEST_SECRET")
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); dumpable != 0 || err != nil {
		t.Errorf("other processes can read the environment: %d, %v", dumpable, err)
	}
	if _, err := os.Readlink("/proc/self/exe"); err != nil {
		t.Errorf("a guard could not be started: %v", err)
	}
}

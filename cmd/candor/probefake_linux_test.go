package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
)

// TestProbeSkipsUpstreamWithoutNamespaces runs where no further namespace can be created. The real calls were meant for
// the fake upstream, so even with permission for them nothing is called.
func TestProbeSkipsUpstreamWithoutNamespaces(t *testing.T) {
	t.Parallel()
	if fakeupstream.Available() != nil {
		return // no namespaces are available anyway; the package of the fake upstream has a test that explains why
	}
	for flag, want := range map[string]int{"--quiet": 0, "--yes": term.ExitUsage, "--allow=honest": term.ExitUsage} {
		script := `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", shippedCandor(t), "probe", "--quiet", "--fake-upstream", "--fail-on", "never", flag, "--", shippedCandor(t), "zoo", "--defect", "masked-flag")
		cmd.Dir = t.TempDir()
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		said, err := cmd.CombinedOutput()
		code := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			code = failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(string(said)), " ")
		if code != want || !strings.Contains(text, "namespaces") || (want == 0) != strings.Contains(text, "EC002 masked-flag") {
			t.Errorf("%s: exit code %d\n%s", flag, code, said)
		}
	}
}

package iofault_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/iofault"
)

func TestMain(m *testing.M) {
	iofault.Main()
	os.Exit(m.Run())
}

// TestPlannedCallFails runs a shell that creates files and makes one of the calls fail.
func TestPlannedCallFails(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `read go; for i in 1 2 3; do echo $i > "$0/$i" || echo "no $i"; done; echo > /dev/null`, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	faults, err := iofault.Start(cmd, dir, nil)
	if err != nil {
		t.Skipf("no filter can be installed here: %v", err)
	}
	created := 0
	faults.Arm(func(c iofault.Call) int {
		if c.Name != "openat(O_CREAT)" {
			return 0
		}
		if created++; created == 2 {
			return int(syscall.ENOSPC)
		}
		return 0
	})
	_, _ = in.Write([]byte("\n"))
	_ = cmd.Wait()
	count, failed := faults.Disarm()
	faults.Close()
	if out.String() != "no 2\n" || len(failed) != 1 || failed[0].Path != filepath.Join(dir, "2") || count < 5 {
		t.Errorf("it said %q, and of %d calls these failed: %+v", out.String(), count, failed)
	}
}

package kaiza_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheLockOfAWorkspaceIsHeldUntilItsCheckIsGone checks which process holds the lock file while a check runs. The
// guard of the check must hold it, because it ends after all processes of the check, so that a recovery cannot run while
// they may still write. The check must not hold it, because it could keep it.
func TestTheLockOfAWorkspaceIsHeldUntilItsCheckIsGone(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	m := newMidway(p)
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(m.check) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	guard, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil || guard == m.Cmd.Process.Pid {
		t.Fatalf("the check has no guard: %v %s", err, stat)
	}
	if !slices.Contains(openFiles(t, guard), "changes.lock") {
		t.Errorf("the guard holds %v", openFiles(t, guard))
	}
	if slices.Contains(openFiles(t, m.check), "changes.lock") {
		t.Errorf("the check holds %v", openFiles(t, m.check))
	}
	m.Kill()
	p.eventually("the check is gone with its server", func() bool { return gone(m.check) })
}

// openFiles returns the names of the open files of a process.
func openFiles(t *testing.T, pid int) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	if err != nil || len(all) == 0 {
		t.Fatalf("%v %v", all, err)
	}
	var names []string
	for _, fd := range all {
		if target, err := os.Readlink(fd); err == nil {
			names = append(names, filepath.Base(target))
		}
	}
	return names
}

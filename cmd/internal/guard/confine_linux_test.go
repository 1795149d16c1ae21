//go:build !portableguard

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// confined returns options that allow a shell to start, and to write in one directory.
func confined(t *testing.T, folder string) guard.Options {
	t.Helper()
	if files, calls := guard.Confinable(); !files || !calls {
		t.Skip("this kernel has no Landlock or no seccomp filters")
	}
	o := kinds(t)["guarded"]
	o.Confine = &guard.Confinement{
		Read:  []string{"/etc/ld.so.cache", "/dev/null", "/no/such/file"},
		Run:   []string{"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib"},
		Write: []string{folder},
	}
	return o
}

// TestConfinementIsEnforced runs each script with and without a confinement. Without one, each of them succeeds.
func TestConfinementIsEnforced(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"read":       "read x < " + outside + "/secret",
		"write":      "echo x > " + outside + "/new",
		"truncate":   ": > " + outside + "/secret",
		"link":       "ln " + outside + "/secret " + inside + "/link",
		"proc":       "read x < /proc/self/environ || read x < /proc/self/stat",
		"fork":       "(exit 0)",
		"kill":       "kill -0 " + strconv.Itoa(os.Getpid()),
		"chmod":      "exec chmod 600 " + outside + "/secret",
		"touch":      "exec touch -d 2020-01-01 " + outside + "/secret",
		"rm":         "exec rm " + outside + "/secret",
		"limits":     "ulimit -n 64",
		"socket":     `exec python3 -I -S -c 'import socket; socket.socket()'`,
		"socketUnix": `exec python3 -I -S -c 'import socket; socket.socket(socket.AF_UNIX)'`,
		"affinity":   fmt.Sprintf(`exec python3 -I -S -c 'import os; os.sched_setaffinity(%[1]d, os.sched_getaffinity(%[1]d))'`, os.Getpid()),
		"ioprio":     fmt.Sprintf("exec ionice -c 2 -n 4 -p %d", os.Getpid()),
		"shared":     `exec python3 -I -S -c 'import mmap; mmap.mmap(-1, 4096)'`,
		"memfd":      `exec python3 -I -S -c 'import os; os.memfd_create("x")'`,
	} {
		if strings.Contains(script, "python3") {
			script = strings.Replace(script, "python3", "/usr/bin/python3", 1)
			if _, err := os.Stat("/usr/bin/python3"); err != nil {
				continue
			}
		}
		for _, o := range []guard.Options{confined(t, inside), kinds(t)["guarded"]} {
			_ = os.WriteFile(filepath.Join(outside, "secret"), []byte("secret\n"), 0o600)
			_ = os.Remove(filepath.Join(inside, "link"))
			l := start(t, o, script)
			if end := l.p.End(); (end.Code != 0) != (o.Confine != nil) {
				t.Errorf("%s, confined %v: %+v %s", name, o.Confine != nil, end, l.said())
			}
		}
	}
}

func TestConfinedCommandWorksInItsFolder(t *testing.T) {
	inside := t.TempDir()
	l := start(t, confined(t, inside), "cd "+inside+" && echo text > file && read x < file && echo got $x && kill -0 $$ && exec rm file")
	if end := l.p.End(); end != (guard.End{}) || l.said() != "got text\n" {
		t.Errorf("%+v %q", end, l.said())
	}
}

// TestConfinedPythonWorks covers calls that the filter must not refuse.
func TestConfinedPythonWorks(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no Python")
	}
	inside := t.TempDir()
	l := start(t, confined(t, inside), "cd "+inside+` && exec /usr/bin/python3 -I -S -c '
import mmap, threading
m = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); m[0] = 1
with open("f", "w+b") as f:
    f.truncate(4096); s = mmap.mmap(f.fileno(), 4096); s[0] = 2
b = bytearray(50 << 20)
t = threading.Thread(target=print, args=("works",)); t.start(); t.join()'`)
	if end := l.p.End(); end != (guard.End{}) || l.said() != "works\n" {
		t.Errorf("%+v %q", end, l.said())
	}
}

// TestConfinedCommandKillsNeitherGuardNorUs runs a command that tries to kill its guard and this process.
func TestConfinedCommandKillsNeitherGuardNorUs(t *testing.T) {
	l := start(t, confined(t, t.TempDir()), "kill -9 $PPID; kill -9 "+strconv.Itoa(os.Getpid())+"; echo alive; kill -9 $$")
	if end := l.p.End(); end.Code != 137 || !strings.Contains(l.said(), "alive") {
		t.Errorf("%+v %q", end, l.said())
	}
}

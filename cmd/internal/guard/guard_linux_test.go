//go:build !portableguard

package guard_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

func init() { runtime.LockOSThread() } // TestMain runs on the first thread

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		if os.Getenv(fillHeapVariable) != "" {
			defer runtime.KeepAlive(fillHeap())
		}
		code := make(chan int)
		go func() { code <- guard.Main(os.Args[2:]) }() // on any thread except the first
		os.Exit(<-code)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector, a guard would exit one second late
	os.Exit(m.Run())
}

// kinds are the ways to run a command: without a guard, with one, and with one that sets limits.
func kinds(t *testing.T) map[string]guard.Options {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self := []string{path, "guard"}
	return map[string]guard.Options{"bare": {}, "guarded": {Self: self}, "limited": {Self: self, Limits: guard.Limits{File: 1 << 30}}}
}

// place is a directory in which a script runs.
type place struct {
	t   *testing.T
	dir string
	p   *guard.Process
}

func start(t *testing.T, o guard.Options, script string) *place {
	t.Helper()
	l := &place{t: t, dir: t.TempDir()}
	out, err := os.Create(filepath.Join(l.dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, out, out
	if l.p, err = guard.Start(cmd, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.p.Kill()
		<-l.p.Done()
	})
	return l
}

func (l *place) said() string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, "out"))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// await waits until the script has printed the word.
func (l *place) await(word string) {
	l.t.Helper()
	for !strings.Contains(l.said(), word) {
		select {
		case <-l.p.Done():
			l.t.Fatalf("it has ended with %+v, and said %q", l.p.End(), l.said())
		case <-time.After(time.Millisecond):
		}
	}
}

// number returns the number that the script has printed after the word.
func (l *place) number(word string) int {
	l.t.Helper()
	_, rest, _ := strings.Cut(l.said(), word+" ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(line)
	if err != nil {
		l.t.Fatalf("%q: %v", l.said(), err)
	}
	return n
}

func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(text, []byte(") Z "))
}

func TestExitStatusIsReported(t *testing.T) {
	for kind, o := range kinds(t) {
		for script, want := range map[string]guard.End{
			"exit 0": {}, "exit 3": {Code: 3}, "exit 137": {Code: 137}, "kill -SEGV $$": {Code: 139, Signal: syscall.SIGSEGV}, "kill -9 0": {Code: 137, Signal: syscall.SIGKILL},
		} {
			if end := start(t, o, script).p.End(); end != want {
				t.Errorf("%s, %s: %+v", kind, script, end)
			}
		}
	}
}

func TestStartErrorIsReported(t *testing.T) {
	for kind, o := range kinds(t) {
		p, err := guard.Start(exec.Command("/nowhere/at/all"), o)
		if kind == "bare" {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if err != nil || p.End() != (guard.End{Code: 127}) {
			t.Errorf("%s: %v", kind, err)
		}
		o.Self = []string{"/nowhere/at/all"}
		if _, err := guard.Start(exec.Command("/bin/true"), o); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without a guard: %v", err)
		}
	}
	if _, err := guard.Start(exec.Command("no-such-command-anywhere"), guard.Options{}); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

func TestAskSendsSIGTERM(t *testing.T) {
	for kind, o := range kinds(t) {
		l := start(t, o, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
		l.await("ready")
		l.p.Ask()
		if end := l.p.End(); end != (guard.End{Code: 7}) {
			t.Errorf("%s: %+v", kind, end)
		}
		l.p.Ask() // all processes have ended
	}
}

func TestGuardPreservesSignalsFilesAndEnvironment(t *testing.T) {
	said := map[string]string{}
	for kind, o := range kinds(t) {
		l := start(t, o, "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ls /proc/self/fd; ulimit -Sn; ulimit -Hn; pwd | tr -d 0-9; env | grep -v ^_= | sort | tr -d 0-9")
		if end := l.p.End(); end != (guard.End{}) {
			t.Errorf("%s: %+v", kind, end)
		}
		said[kind] = strings.ReplaceAll(l.said(), l.dir, "")
	}
	if said["bare"] == "" || said["guarded"] != said["bare"] || said["limited"] != said["bare"] {
		t.Errorf("%q", said)
	}
}

// TestKillingTheGuardKillsItsCommand runs a command that kills its guard. The command and its process group must be killed too.
func TestKillingTheGuardKillsItsCommand(t *testing.T) {
	for kind, o := range kinds(t) {
		if kind == "bare" {
			continue
		}
		l := start(t, o, "sleep 100 & echo child $!; echo command $$; sleep 0.1; kill -9 $PPID; sleep 100")
		if end := l.p.End(); end != (guard.End{Code: 137, Signal: syscall.SIGKILL}) {
			t.Errorf("%s: %+v", kind, end)
		}
		if runs(l.number("child")) || runs(l.number("command")) {
			t.Errorf("%s: still there", kind)
		}
	}
}

// TestGuardPreservesIgnoredSignals covers nohup and background jobs of a shell, in which a command starts with ignored signals.
func TestGuardPreservesIgnoredSignals(t *testing.T) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	defer signal.Reset(syscall.SIGHUP, syscall.SIGINT)
	for kind, o := range kinds(t) {
		l := start(t, o, "grep SigIgn /proc/self/status | cut -f2")
		if end := l.p.End(); end != (guard.End{}) {
			t.Errorf("%s: %+v", kind, end)
		}
		ignored, err := strconv.ParseUint(strings.TrimSpace(l.said()), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := uint64(1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1)); ignored&want != want {
			t.Errorf("%s: ignores %b, want %b too", kind, ignored, want)
		}
	}
}

// TestHeldLockOutlivesTheProcess releases a lock as if this process had ended. The lock must be free when all processes have
// ended, and not earlier.
func TestHeldLockOutlivesTheProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	lock := func() (*os.File, error) {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file, syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	file, err := lock()
	if err != nil {
		t.Fatal(err)
	}
	o := kinds(t)["limited"]
	o.Hold = []*os.File{file}
	l := start(t, o, "ls -l /proc/self/fd; echo ready; sleep 100")
	_ = file.Close()
	l.await("ready")
	if strings.Contains(l.said(), name) {
		t.Errorf("the command has it: %s", l.said())
	}
	if _, err := lock(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("the lock is free while the command runs: %v", err)
	}
	l.p.Kill()
	<-l.p.Done()
	if _, err := lock(); err != nil {
		t.Error(err)
	}
}

// TestNoProcessEscapesTheGuard uses short-lived processes: each starts another in a new session, and ends.
func TestNoProcessEscapesTheGuard(t *testing.T) {
	l := start(t, kinds(t)["guarded"], `
run='echo $1 >> runs; if [ $1 -lt 5000 ]; then setsid sh -c "$0" "$0" $(($1+1)) & fi'
for i in 1 2 3 4; do setsid sh -c "$run" "$run" 1 & done
while ! grep -q '^9$' runs; do sleep 0.01; done`)
	if end := l.p.End(); end != (guard.End{}) {
		t.Fatalf("%+v %q", end, l.said())
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(l.dir, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	time.Sleep(50 * time.Millisecond) // a running process would write in the meantime
	if after := size(); after != before {
		t.Error("one of them still runs")
	}
}

func TestMainRefusesInvalidArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"/bin/true"}, {"--hold", "0", "--"}, {"--hold", "x", "--", "/bin/true"}, {"--hold", "-1", "--", "/bin/true"}} {
		if code := guard.Main(args); code != 2 {
			t.Errorf("%v: %d", args, code)
		}
	}
	for _, args := range [][]string{{"--data", "x"}, {"--fsize", "-1", "--", "/bin/true"}, {"--fsize", "10000000000", "--"}} {
		if code := guard.Main(append([]string{"--limited"}, args...)); code != 127 {
			t.Errorf("%v: %d", args, code)
		}
	}
}

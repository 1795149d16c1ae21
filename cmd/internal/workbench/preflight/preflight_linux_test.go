package preflight_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

func init() { runtime.LockOSThread() } // TestMain runs on the first thread

// TestMain runs the test binary as a command if it has an argument, which selects the command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guard":
			code := make(chan int)
			go func() { code <- guard.Main(os.Args[2:]) }() // on a thread other than the first
			os.Exit(<-code)
		case "serve":
			serve(os.Args[2], os.Args[3])
			os.Exit(0)
		case "fate":
			var fate int
			_ = unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&fate)), 0, 0, 0)
			fmt.Println(syscall.Signal(fate))
			os.Exit(0)
		case "eat":
			eat(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// eat allocates the given number of MiB and holds them until it is stopped.
func eat(size string) {
	n, _ := strconv.Atoi(size)
	held := make([]byte, n<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	fmt.Println("ate", len(held)>>20)
	time.Sleep(time.Minute) // the limit ends it
	fmt.Println(held[0])
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

func options() preflight.Options { return preflight.Options{Self: []string{self(), "guard"}} }

func shell(script string) preflight.Command {
	return preflight.Command{Name: "check", Run: []string{"sh", "-c", script}}
}

func run(t *testing.T, c preflight.Command) (preflight.Result, *candor.Error) {
	t.Helper()
	results, err := preflight.Run(t.Context(), t.TempDir(), []preflight.Command{c}, options())
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	e, ok := errors.AsType[*candor.Error](err)
	if err != nil && (!ok || e.Code() != kaiza.PreflightFailed || e.Validate() != nil) {
		t.Errorf("%v", err)
	}
	if (err == nil) != results[0].OK() {
		t.Errorf("%v, but %+v", err, results[0])
	}
	return results[0], e
}

func TestPassingCommand(t *testing.T) {
	r, err := run(t, shell("echo fine; cat; pwd | grep -q TestPassingCommand"))
	if err != nil || r.Exit != 0 || r.Output != "fine\n" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestTheFirstFailureEndsTheRun(t *testing.T) {
	bad := shell("echo broken; exit 3")
	results, err := preflight.Run(t.Context(), t.TempDir(), []preflight.Command{shell("true"), bad, shell("true")}, preflight.Options{})
	e, ok := errors.AsType[*candor.Error](err)
	if !ok || e.Code() != kaiza.PreflightFailed || len(results) != 2 {
		t.Fatalf("%v %+v", err, results)
	}
	for _, want := range []string{`"command":"check"`, `"exit":3`, `"output":["broken"]`, `"reason":"ended with exit code 3"`} {
		if !strings.Contains(e.Details().String(), want) {
			t.Errorf("%s lacks %s", e.Details(), want)
		}
	}
}

func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return pid == 0 || err == nil && !strings.Contains(string(text), ") Z ")
}

func TestLongOutputKeepsItsEnd(t *testing.T) {
	c := shell("head -c 10485760 /dev/zero | tr '\\0' 'x' | fold -w 99; echo the end; exit 1")
	r, err := run(t, c)
	if len(r.Output) > 4<<10+10 || !strings.HasPrefix(r.Output, "…\n") || !strings.HasSuffix(r.Output, "the end\n") {
		t.Errorf("%d bytes: %q", len(r.Output), r.Output)
	}
	var d struct{ Output []string }
	if err.Details().Decode(&d) != nil || len(d.Output) < 30 || len(strings.Join(d.Output, "\n")) > 4<<10 || !strings.HasSuffix(d.Output[len(d.Output)-1], "the end") {
		t.Errorf("%d lines in the error", len(d.Output))
	}
}

func TestCommandOverMemoryIsKilled(t *testing.T) {
	c := preflight.Command{Name: "eat", Run: []string{self(), "eat", "300"}, Memory: 100 << 20}
	results, err := preflight.Run(t.Context(), t.TempDir(), []preflight.Command{c}, preflight.Options{})
	if err == nil || !results[0].OverMemory || !strings.Contains(err.Error(), "more memory than 100 MiB") {
		t.Errorf("watching alone: %+v %v", results, err)
	}
	c.Run[2] = "3000"
	r, _ := run(t, c)
	if r.OK() || strings.Contains(r.Output, "ate 3000") {
		t.Errorf("with limits: %+v", r)
	}
}

func TestMissingCommandIsReported(t *testing.T) {
	missing := preflight.Command{Name: "lint", Run: []string{"no-such-command-anywhere"}}
	r, err := run(t, missing)
	if !r.Missing || !strings.Contains(err.Message(), "could not be started") {
		t.Errorf("%+v %v", r, err)
	}
	if err := preflight.Lookup([]preflight.Command{shell("true"), missing}); err == nil || !strings.Contains(err.Error(), `"lint"`) || !strings.Contains(err.Error(), "hint:") {
		t.Error(err)
	}
	if err := preflight.Lookup([]preflight.Command{shell("true")}); err != nil {
		t.Error(err)
	}
	for _, line := range [][]string{nil, {""}, {"./check.sh"}, {"bin/check"}} {
		if preflight.Lookup([]preflight.Command{{Name: "x", Run: line}}) == nil {
			t.Errorf("%q is found", line)
		}
	}
}

func TestSecretsAndControlsDoNotGetOut(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	t.Setenv("DEPLOY_TOKEN", secret)
	t.Setenv("WANTED", "wanted-value")
	c := shell("env; printf '\\033[31mred\\033[0m\\n'; echo token " + secret + "; exit 1")
	c.Env = []string{"WANTED"}
	r, err := run(t, c)
	text, _ := err.MarshalJSON()
	if strings.Contains(r.Output+string(text), secret) || strings.Contains(r.Output, "\x1b") || !strings.Contains(r.Output, "\nred\n") {
		t.Errorf("%q", r.Output)
	}
	if strings.Contains(r.Output, "DEPLOY_TOKEN") || !strings.Contains(r.Output, "WANTED=wanted-value") || !strings.Contains(r.Output, "PATH=") {
		t.Errorf("the environment is not what was asked for: %q", r.Output)
	}
}

func TestCancelledCallKillsTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	go func() {
		defer cancel()
		wait.Until(t, "the command", func() bool {
			_, err := os.Stat(filepath.Join(dir, "pid"))
			return err == nil
		})
	}()
	results, err := preflight.Run(ctx, dir, []preflight.Command{shell("echo $$ > tmp; mv tmp pid; sleep 600"), shell("true")}, preflight.Options{})
	if !errors.Is(err, context.Canceled) || len(results) != 1 || results[0].TimedOut {
		t.Errorf("%v %+v", err, results)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "pid"))
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); running(pid) {
		t.Error("it still runs")
	}
}

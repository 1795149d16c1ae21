//go:build !linux || portableguard

package guard_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// The test binary is also the guard and the commands that it runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guard":
			os.Exit(guard.Main(os.Args[2:]))
		case "exit":
			os.Exit(7)
		case "sleep": // started by "family"; holds the pipe open
			hang()
		case "family":
			family()
		case "ask":
			asked()
		case "owner":
			owner()
		}
	}
	os.Exit(m.Run())
}

func self() []string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{path, "guard"}
}

// family starts a process that inherits its output, prints a line, and waits.
func family() {
	cmd := exec.Command(self()[0], "sleep") //nolint:noctx // the guard ends it
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	hang()
}

// asked ends with code 9 when it is asked to.
func asked() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	fmt.Println("ready")
	<-stop
	os.Exit(9)
}

// owner starts a family through a guard and waits to be killed.
func owner() {
	cmd := exec.Command(self()[0], "family") //nolint:noctx // the guard ends it
	cmd.Stdout = os.Stdout
	if _, err := guard.Start(cmd, guard.Options{Self: self()}); err != nil {
		panic(err)
	}
	hang()
}

// hang waits to be killed.
func hang() {
	time.Sleep(10 * time.Minute) // and not for ever, so that a test that fails leaves no process
}

// begin runs a mode of this binary with start, and waits until it is ready. The pipe ends when no process holds it any more.
func begin(t *testing.T, mode string, start func(*exec.Cmd) error) *bufio.Reader {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	cmd := exec.Command(self()[0], mode) //nolint:noctx // the test ends it
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	if err := start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(r)
	if line, err := out.ReadString('\n'); strings.TrimSpace(line) != "ready" {
		t.Fatalf("it said %q, %v", line, err)
	}
	return out
}

func start(p **guard.Process) func(*exec.Cmd) error {
	return func(cmd *exec.Cmd) (err error) {
		*p, err = guard.Start(cmd, guard.Options{Self: self()})
		return err
	}
}

// allEnd fails if a process still holds the pipe after two minutes.
func allEnd(t *testing.T, out io.Reader) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("a process is left")
	}
}

func TestEndIsThatOfTheCommand(t *testing.T) {
	t.Parallel()
	p, err := guard.Start(exec.Command(self()[0], "exit"), guard.Options{Self: self()}) //nolint:noctx // it ends by itself
	if err != nil {
		t.Fatal(err)
	}
	if end := p.End(); end.Code != 7 {
		t.Errorf("it ended with %v", end)
	}
}

func TestKillEndsAllProcesses(t *testing.T) {
	t.Parallel()
	var p *guard.Process
	out := begin(t, "family", start(&p))
	p.Kill()
	if end := p.End(); end.Code == 0 {
		t.Errorf("it ended with %v", end)
	}
	allEnd(t, out)
}

func TestEndOfThisProcessEndsAllProcesses(t *testing.T) {
	t.Parallel()
	var started *exec.Cmd
	out := begin(t, "owner", func(cmd *exec.Cmd) error { started = cmd; return cmd.Start() })
	if err := started.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = started.Wait() // it was killed
	allEnd(t, out)
}

func TestAskEndsTheCommand(t *testing.T) {
	t.Parallel()
	var p *guard.Process
	out := begin(t, "ask", start(&p))
	p.Ask()
	select {
	case <-p.Done():
	case <-time.After(2 * time.Minute):
		p.Kill()
		t.Fatal("it did not end")
	}
	if end := p.End(); end.Code != 9 {
		t.Errorf("it ended with %v", end)
	}
	allEnd(t, out)
}

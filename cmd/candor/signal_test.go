//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestInterruptEndsQuietly checks that Ctrl-C ends the program without a message, after it has printed the results of all lines read.
func TestInterruptEndsQuietly(t *testing.T) {
	cmd := command(t, "decode", "--json")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The output must be printed while the input is still open: it is not buffered.
	if _, err := in.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(first, `{"verdict":"clean"`) {
		t.Fatalf("%q, %v", first, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if ended := endedBy(cmd.Wait()); ended != syscall.SIGINT {
		t.Errorf("ended by %v, want %v", ended, syscall.SIGINT)
	}
	if complaints.Len() > 0 {
		t.Errorf("on standard error: %s", complaints.String())
	}
}

// TestInterruptedDemoRemovesItsFiles checks that the demo prints each scene when it has ended, and removes its folder when interrupted.
func TestInterruptedDemoRemovesItsFiles(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			for range 20 { // the demo may end before a busy machine runs this process again
				if interruptDemo(t, signal) {
					return
				}
			}
			t.Error("the first scene came when all was over")
		})
	}
}

// interruptDemo interrupts the demo after its first scene, and reports whether it was still running.
func interruptDemo(t *testing.T, signal os.Signal) (ran bool) {
	t.Helper()
	folder := t.TempDir()
	cmd := command(t, "demo")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(folder)
	if ran = len(left) > 0; err != nil {
		t.Error(err)
	}
	_ = cmd.Process.Signal(signal)
	if err := cmd.Wait(); err != nil || complaints.Len() > 0 {
		t.Errorf("ended with %v and on standard error: %s", err, complaints.String())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return ran
}

// TestClosedPipeEndsQuietly checks that a reader that exits early, such as head, ends the program without a message.
func TestClosedPipeEndsQuietly(t *testing.T) {
	cmd := command(t, "codes", "--json")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stdout, cmd.Stderr = w, &complaints
	if err := errors.Join(r.Close(), cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if ended := endedBy(cmd.Wait()); ended != syscall.SIGPIPE {
		t.Errorf("ended by %v, want %v", ended, syscall.SIGPIPE)
	}
	if complaints.Len() > 0 {
		t.Errorf("on standard error: %s", complaints.String())
	}
}

// TestFullDiskIsReported: output that cannot be written is not a success.
func TestFullDiskIsReported(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("no /dev/full on this system, nothing to try: %v", err)
		return
	}
	t.Cleanup(func() { _ = full.Close() })
	for _, args := range [][]string{{"codes"}, {"demo"}, {"decode", "--json", "-"}, {"explain", "TIMEOUT"}} {
		cmd := command(t, args...)
		var complaints strings.Builder
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")
		cmd.Stdout, cmd.Stderr = full, &complaints
		err := cmd.Run()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != term.ExitUsage || !strings.Contains(complaints.String(), "no space left") {
			t.Errorf("%v: %v, %s", args, err, complaints.String())
		}
	}
}

func endedBy(err error) syscall.Signal {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return 0
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0
	}
	return status.Signal()
}

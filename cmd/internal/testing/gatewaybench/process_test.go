package gatewaybench

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// process is a started program with its pipes. It is stopped at the end of the benchmark.
type process struct {
	in  io.WriteCloser
	out io.ReadCloser
}

func start(b *testing.B, env []string, command string, args ...string) process {
	b.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), command, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait() // it may have been killed
		}()
		select {
		case <-ended:
		case <-time.After(2 * time.Second): // it does not exit when stdin is closed
			_ = cmd.Process.Signal(os.Interrupt)
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				_ = cmd.Process.Kill()
				<-ended
			}
		}
	})
	return process{in, out}
}

// piped starts a program that communicates over its stdin and stdout.
func piped(b *testing.B, callers int, env []string, command string, args ...string) load.Callers {
	b.Helper()
	p := start(b, env, command, args...)
	calls, err := load.NewPipe(p.out, p.in, callers)
	must(b, err)
	return calls
}

// role starts one of the roles over HTTP and returns its address.
func role(b *testing.B, name string, args ...string) string {
	b.Helper()
	p := start(b, []string{roleEnv + "=" + name}, os.Args[0], args...)
	at, err := bufio.NewReader(p.out).ReadString('\n')
	must(b, err)
	return strings.TrimSpace(at)
}

// posted returns callers of the server at an address. It waits until the server has started.
func posted(b *testing.B, at string, callers int) load.Callers {
	b.Helper()
	var calls load.Callers
	wait.For(b, "the server", func() (err error) {
		calls, err = newPosts(b.Context(), at, "/mcp", callers)
		return err
	})
	b.Cleanup(func() { _ = calls.Close() })
	return calls
}

// freePort returns an unused address, for programs that cannot choose one.
func freePort(b *testing.B) string {
	b.Helper()
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	must(b, err)
	must(b, l.Close())
	return l.Addr().String()
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

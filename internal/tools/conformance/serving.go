package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"
)

// Serve runs a program on a free local port and waits until it listens there or the context ends. It tries several
// ports, because another process may take the port before the program does. stop kills the program and waits until it
// has exited.
func Serve(ctx context.Context, program func(address string) *exec.Cmd) (address string, stop func(), err error) {
	for range 3 {
		address, err = freeAddress(ctx)
		if err != nil {
			return "", nil, err
		}
		var complaints bytes.Buffer
		cmd := program(address)
		cmd.Stderr = &complaints
		if err = cmd.Start(); err != nil {
			return "", nil, err
		}
		gone := make(chan struct{})
		go func() {
			_ = cmd.Wait() // the exit status does not matter: the program was killed, or has printed its error
			close(gone)
		}()
		stop = func() {
			_ = cmd.Process.Kill()
			<-gone
		}
		if err = listening(ctx, address, gone); err == nil {
			return address, stop, nil
		}
		stop()
		err = fmt.Errorf("starting %s: %w\n%s", filepath.Base(cmd.Path), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return "", nil, err
}

// ServeGateway runs candor's gateway in front of the server at url, as a user would, and returns the gateway's URL. The
// gateway records below dir.
func ServeGateway(ctx context.Context, candor, url, dir string) (through string, stop func(), err error) {
	address, stop, err := Serve(ctx, func(address string) *exec.Cmd {
		return exec.CommandContext(ctx, candor, "gateway", "--listen", address, "--ledger", filepath.Join(dir, "ledger"), "--upstream", "judged="+url)
	})
	return "http://" + address + "/mcp", stop, err
}

// BuildCandor builds the candor command into dir and returns its path. The working directory must be inside this
// module.
func BuildCandor(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "candor")
	_, err := goCommand(ctx, "build", "-o", program, "github.com/candor-mcp/candor/cmd/candor")
	return program, err
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listening waits until a server listens at the address, the process has ended, or the context is done.
func listening(ctx context.Context, address string, gone <-chan struct{}) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-gone:
			return errors.New("the server stopped before it listened")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

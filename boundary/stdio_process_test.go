package boundary

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

const childEnv = "CANDOR_TEST_CHILD"

// TestChildServer is the server process that the tests below start; it is not a test itself.
func TestChildServer(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		return // only for the tests that start it as a process
	}
	server := rowServer()
	server.AddTool(&mcp.Tool{Name: "prints", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			fmt.Println("this would tear the protocol")
			return text("printed"), nil
		})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := Serve(ctx, server, Options{MaxMessage: 4000, Logger: quiet})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a server that runs as a separate process.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	pipe   io.ReadCloser
	out    *bufio.Scanner
	stderr strings.Builder
}

func startChild(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildServer$")}
	c.cmd.Env = append(os.Environ(), childEnv+"=1", "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = &c.stderr
	var err, err2 error
	c.in, err = c.cmd.StdinPipe()
	c.pipe, err2 = c.cmd.StdoutPipe()
	if err := errors.Join(err, err2, c.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(c.pipe)
	c.out.Buffer(nil, 1<<20)
	return c
}

func (c *child) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next n answers.
func (c *child) read(n int) replies {
	c.t.Helper()
	var lines []string
	for range n {
		if !c.out.Scan() {
			c.t.Fatalf("the server ended: %s", c.stderr.String())
		}
		lines = append(lines, c.out.Text())
	}
	return answers(c.t, lines)
}

func (c *child) wait() {
	c.t.Helper()
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("%v: %s", err, c.stderr.String())
	}
}

func TestOneProcessLivesThroughTheWholeMatrix(t *testing.T) {
	for _, e := range eras {
		c := startChild(t)
		if len(e.preamble) > 0 {
			c.send(e.preamble...)
			c.read(1)
		}
		for _, r := range matrix {
			if r.before || (r.only != "" && r.only != e.name) {
				continue
			}
			c.send(e.say(r.send), e.say(alive))
			if r.silent {
				c.read(1)
				continue
			}
			got := c.read(2)
			if got.at(`"alive"`).Kind() != wire.KindResult {
				t.Fatalf("%s/%s: %v", e.name, r.name, got)
			}
			delete(got, `"alive"`)
			r.checkAnswer(t, got)
		}
		shut(t, c.in)
		c.wait()
	}
}

func TestPrintedTextDoesNotReachTheProtocol(t *testing.T) {
	c := startChild(t)
	c.send(eras[0].preamble...)
	c.read(1)
	c.send(request("7", "tools/call", `{"name":"prints"}`))
	if got := c.read(1); got.at("7").Kind() != wire.KindResult {
		t.Errorf("%v", got)
	}
	shut(t, c.in)
	c.wait()
	if !strings.Contains(c.stderr.String(), "this would tear the protocol") {
		t.Errorf("standard error holds %q", c.stderr.String())
	}
}

func TestH18AClosedOutputEndsTheProcessCleanly(t *testing.T) {
	c := startChild(t)
	c.send(eras[0].preamble...)
	c.read(1)
	shut(t, c.pipe)
	c.send("hello world")
	c.wait()
}

func TestH18ASignalEndsTheProcessCleanlyAndCallsAreAnswered(t *testing.T) {
	c := startChild(t)
	c.send(eras[0].preamble...)
	c.read(1)
	c.send(request("7", "tools/call", `{"name":"waits"}`), alivePing)
	c.read(1)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	got := c.read(1)
	if told, _ := envelope(t, got.at("7")); told.Code() != candor.CodeCancelled {
		t.Errorf("%v", told)
	}
	c.wait()
}

const alivePing = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

func TestH18TheEndOfTheInputIsTheEndOfTheProcess(t *testing.T) {
	c := startChild(t)
	c.send(eras[0].preamble...)
	io.WriteString(c.in, alivePing) //nolint:errcheck // errors show in the answers
	shut(t, c.in)
	if got := c.read(2); got.at(`"ping"`).Kind() != wire.KindResult {
		t.Errorf("a last line that nothing ends was not served: %v", got)
	}
	c.wait()
}

package democmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// demoClient is the client of a connection. It makes one call at a time.
type demoClient struct {
	to    io.Writer
	lines chan []byte // closed at the end of the connection
	calls int
}

// errDemoSilent is the error of a call without a response.
var errDemoSilent = errors.New("no answer, and the client waits forever")

// errDemoGone is the error of a call on a closed connection.
var errDemoGone = errors.New("no answer: the connection is closed")

func newDemoClient(to io.Writer, from io.Reader) *demoClient {
	c := &demoClient{to: to, lines: make(chan []byte)}
	go func() {
		defer close(c.lines)
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	return c
}

// hello initializes the session.
func (c *demoClient) hello() error {
	if _, err := c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}`, demoTimeout); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return err
}

// demoTimeout is the time limit of calls that are answered at once.
const demoTimeout = 10 * time.Second

// ask makes a call and returns its response.
func (c *demoClient) ask(method, params string, timeout time.Duration) (*wire.Message, error) {
	c.calls++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.calls, method, params); err != nil {
		return nil, errDemoGone
	}
	select {
	case line, ok := <-c.lines:
		if !ok {
			return nil, errDemoGone
		}
		m := wire.Parse(line, wire.Limits{})
		return &m, nil
	case <-time.After(timeout):
		return nil, errDemoSilent
	}
}

// call calls a tool.
func (c *demoClient) call(tool, arguments string, timeout time.Duration) (*wire.Message, error) {
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments), timeout)
}

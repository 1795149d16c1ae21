package boundary_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/meter"
)

// talk is a client that sends and reads raw lines.
type talk struct {
	t     *testing.T
	to    io.Writer
	lines *bufio.Reader
	id    int
}

// talkTo serves a server through a boundary over pipes, and initializes the session.
func talkTo(t *testing.T, server *mcp.Server, o boundary.Options) *talk {
	t.Helper()
	b := boundary.Install(server, o)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() { _ = server.Run(context.WithoutCancel(t.Context()), b.Transport(fromClient, toClient)) }()
	t.Cleanup(func() { _ = toServer.Close() })
	c := &talk{t: t, to: toServer, lines: bufio.NewReaderSize(fromServer, 1<<20)}
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	return c
}

// ask makes a call and returns its answer.
func (c *talk) ask(method, params string) json.RawMessage {
	c.t.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

func newMeter(t *testing.T, o meter.Options) *meter.Meter {
	t.Helper()
	m, err := meter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFailuresCountForTheServersName checks that a boundary counts failures under the name of the Implementation, or Options.Name.
func TestFailuresCountForTheServersName(t *testing.T) {
	for want, o := range map[string]boundary.Options{"shop": {}, "other": {Name: "other"}} {
		counts := newMeter(t, meter.Options{})
		o.Meter = counts
		c := talkTo(t, mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), o)
		c.ask("tools/call", `{"name":"nosuch"}`)
		if got := counts.Stats().ByServer; len(got) != 1 || got[want] != 1 {
			t.Errorf("counted %v, want %s", got, want)
		}
	}
}

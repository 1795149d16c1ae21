package boundary_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/schema"
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

func (c *talk) stats() meter.Stats {
	c.t.Helper()
	var answer struct{ Result meter.Stats }
	if err := json.Unmarshal(c.ask("sys/errorStats", "{}"), &answer); err != nil {
		c.t.Fatal(err)
	}
	return answer.Result
}

func newMeter(t *testing.T, o meter.Options) *meter.Meter {
	t.Helper()
	m, err := meter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestH10SamplesAreWithinTheirStatedError checks the counts of a server that samples its counts per tool.
func TestH10SamplesAreWithinTheirStatedError(t *testing.T) {
	sample, err := meter.ParseSample("10")
	if err != nil {
		t.Fatal(err)
	}
	c := talkTo(t, mixedServer(), boundary.Options{Meter: newMeter(t, meter.Options{Sample: sample})})
	const calls = 500
	for range calls {
		c.ask("tools/call", `{"name":"act","arguments":{"how":"error"}}`)
	}
	s := c.stats()
	if s.Total != calls || s.BySymbol["INTERNAL_ERROR"] != calls {
		t.Errorf("total %d and %v of %d are not exact", s.Total, s.BySymbol, calls)
	}
	if got := s.ByTool["act"]["tool"]; got < calls-10 || got > calls+10 {
		t.Errorf("byTool says %d of %d: one code alone is off by a run of ten at most", got, calls)
	}
	if s.Sample == nil {
		t.Error("the stats do not say that they are a sample")
	}
}

// TestH11NamesThatPeersMakeUpDoNotGrowTheCounters calls thousands of tools that do not exist.
func TestH11NamesThatPeersMakeUpDoNotGrowTheCounters(t *testing.T) {
	c := talkTo(t, mixedServer(), boundary.Options{Meter: newMeter(t, meter.Options{MaxTools: 5})})
	c.ask("tools/call", `{"name":"act","arguments":{"how":"error"}}`)
	for i := range 2000 {
		c.ask("tools/call", fmt.Sprintf(`{"name":"made-up-%d"}`, i))
	}
	s := c.stats()
	if len(s.ByTool) > 12 || s.ByTool["act"]["tool"] != 1 || s.Total != 2001 {
		t.Errorf("%d labels for tools, total %d: %v", len(s.ByTool), s.Total, s.ByTool)
	}
}

// TestW7EveryIssueIsReported checks the issues of invalid arguments in the tool-error dialect.
func TestW7EveryIssueIsReported(t *testing.T) {
	toolError, err := dialect.Lookup("tool-error")
	if err != nil {
		t.Fatal(err)
	}
	const input = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1},"mode":{"enum":["r","w"]}},` +
		`"required":["path","mode"],"additionalProperties":false}`
	server := mcp.NewServer(&mcp.Implementation{Name: "w7", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "open", InputSchema: json.RawMessage(input)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			t.Error("the tool ran")
			return &mcp.CallToolResult{}, nil
		})
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	var envelope struct {
		Code    string
		Details struct {
			ValidationIssues []struct{ Path, Message, Hint string }
			CorrectTemplate  json.RawMessage
		}
	}
	line := talkTo(t, server, boundary.Options{Dialect: toolError}).ask("tools/call", `{"name":"open","arguments":{"pth":"x","lmit":0,"mode":"x"}}`)
	if err := errors.Join(json.Unmarshal(line, &answer), json.Unmarshal([]byte(answer.Result.Content[0].Text), &envelope)); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var paths []string
	for _, issue := range envelope.Details.ValidationIssues {
		paths = append(paths, issue.Path)
		if issue.Path == "pth" && !strings.Contains(issue.Hint, `"path"`) || issue.Path == "lmit" && !strings.Contains(issue.Hint, `"limit"`) {
			t.Errorf("%s is not told its neighbour: %q", issue.Path, issue.Hint)
		}
	}
	if want := []string{"lmit", "mode", "path", "pth"}; !slices.Equal(paths, want) {
		t.Errorf("the issues are about %q, want %q, sorted\n%s", paths, want, line)
	}
	s, err := schema.Compile([]byte(input))
	if err != nil {
		t.Fatal(err)
	}
	if template := envelope.Details.CorrectTemplate; len(template) == 0 || !s.Explain(template).OK() {
		t.Errorf("the template %s does not pass", template)
	}
}

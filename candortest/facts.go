package candortest

import (
	"context"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/wire"
)

// facts holds the information about a server that the kit collects before it runs the checks: whether it can connect, and
// the tools and capabilities that the server offers.
type facts struct {
	handshake    ruling
	log          transcript
	stderr       string
	version      string // the negotiated version
	capabilities wire.Value
	tools        []tool
	failures     []failure // see visit.failures
	collected    bool
}

// tool is one tool as the server lists it.
type tool struct {
	name     string
	readOnly bool
	input    schema
	output   *schema // nil if the tool declares none
}

const (
	maxTools = 500
	maxPages = 10
)

// learn opens one connection in the era and requests everything that the checks need to know.
func (t *tour) learn(ctx context.Context, era Era) *facts {
	f := &facts{}
	v := &visit{ctx: ctx, tour: t, era: era, facts: f}
	defer func() { v.close(); f.log, f.stderr = v.log, v.stderr }()
	c, err := v.bare()
	if err != nil {
		f.handshake = bad("%v", err)
		return f
	}
	opened, err := c.shake(ctx)
	if err != nil {
		f.handshake = bad("%v", err)
		return f
	}
	f.version = c.version
	f.capabilities, _ = opened.msg.Result().Get("capabilities")
	if f.offers("tools") {
		f.tools = c.list(ctx)
	}
	return f
}

// offers reports whether the server announced a capability.
func (f *facts) offers(capability string) bool {
	_, ok := f.capabilities.Get(capability)
	return ok
}

// older reports whether the negotiated version is older than version.
func (f *facts) older(version string) bool { return f.version < version }

// tool returns the listed tool of that name.
func (f *facts) tool(name string) (tool, bool) {
	for _, t := range f.tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// shake does the handshake on the connection and returns the answer to the first request.
func (c *client) shake(ctx context.Context) (said, error) {
	id := c.id()
	answer, err := c.ask(ctx, c.era.opening(id), id)
	if err != nil {
		return answer, fmt.Errorf("the opening request was not answered: %w", err)
	}
	result := answer.msg.Result()
	if answer.msg.Kind() != wire.KindResult || result.Path("capabilities").Type() != wire.TypeObject {
		return answer, fmt.Errorf("the opening request was not answered with the server's capabilities: %w", errNotSpoken)
	}
	if c.era == Era2026 {
		for version := range result.Path("supportedVersions").Elements() {
			if version.Is(string(c.era)) {
				return answer, nil
			}
		}
		return answer, fmt.Errorf("supportedVersions does not contain %s: %w", c.era, errNotSpoken)
	}
	version, _ := result.Path("protocolVersion").Str()
	if version == "" || version > string(c.era) { // versions are dates
		return answer, fmt.Errorf("the server names no version up to %s: %w", c.era, errNotSpoken)
	}
	c.version = version
	if err := c.send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return answer, err
	}
	if c.http == nil {
		return answer, nil
	}
	err = c.receive(ctx, c.wait(), func(said) bool { return false })
	if !errors.Is(err, ErrQuiet) {
		return answer, fmt.Errorf("the server did not accept notifications/initialized: %w", err)
	}
	return answer, nil
}

// list reads the pages of tools/list as far as possible. Checks report what is wrong with them.
func (c *client) list(ctx context.Context) []tool {
	var tools []tool
	params := ""
	for range maxPages {
		answer, err := c.call(ctx, "tools/list", params)
		if err != nil {
			return tools
		}
		for entry := range answer.msg.Result().Path("tools").Elements() {
			if len(tools) < maxTools {
				tools = append(tools, readTool(entry))
			}
		}
		cursor, more := answer.msg.Result().Path("nextCursor").Str()
		if !more {
			return tools
		}
		params = `{"cursor":` + quote(cursor) + `}`
	}
	return tools
}

func readTool(entry wire.Value) tool {
	var t tool
	t.name, _ = entry.Path("name").Str()
	t.readOnly, _ = entry.Path("annotations", "readOnlyHint").Bool()
	t.input = readSchema(entry.Path("inputSchema"))
	if output, ok := entry.Get("outputSchema"); ok {
		s := readSchema(output)
		t.output = &s
	}
	return t
}

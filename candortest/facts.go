package candortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// facts holds the information about a server that the kit collects before it runs the checks.
type facts struct {
	handshake    error
	opening      *visit // in which the server was asked
	version      string // the negotiated version
	capabilities wire.Value
	tools        []tool
	failures     []failure // see visit.failures
	collected    bool
}

// tool is one tool as the server lists it. Its schemas are nil if it declares none.
type tool struct {
	name          string
	readOnly      bool
	input, output []byte
}

const (
	maxTools = 500
	maxPages = 10
)

// learn opens one connection in the era and requests everything that the checks need to know.
func (t *tour) learn(ctx context.Context, era string) *facts {
	f := &facts{}
	f.opening = &visit{ctx: ctx, tour: t, era: era, facts: f}
	defer f.opening.close()
	c, err := f.opening.bare()
	if err != nil {
		f.handshake = err
		return f
	}
	answer, err := c.shake(ctx)
	if err != nil {
		f.handshake = err
		return f
	}
	f.version = c.version
	f.capabilities, _ = answer.msg.Result().Get("capabilities")
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

// tool returns the listed tool of that name.
func (f *facts) tool(name string) (tool, bool) {
	if i := slices.IndexFunc(f.tools, func(t tool) bool { return t.name == name }); i >= 0 {
		return f.tools[i], true
	}
	return tool{}, false
}

var errNotSpoken = errors.New("the server does not support this protocol era")

// shake does the handshake on the connection and returns the answer to the first request.
func (c *client) shake(ctx context.Context) (said, error) {
	id := c.id()
	answer, err := c.ask(ctx, openingIn(c.era, id), id)
	if err != nil {
		return answer, fmt.Errorf("the opening request was not answered: %w", err)
	}
	result := answer.msg.Result()
	if answer.msg.Kind() != wire.KindResult || result.Path("capabilities").Type() != wire.TypeObject {
		return answer, fmt.Errorf("the opening request was not answered with the server's capabilities: %w", errNotSpoken)
	}
	if c.era == era2026 {
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
	c.Agree(version)
	if err := c.send(ctx, []byte(mcpclient.Initialized)); err != nil || c.http == nil {
		return answer, err
	}
	err = c.receive(ctx, c.wait(), func(said) bool { return false })
	if !errors.Is(err, errQuiet) {
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
				t := tool{input: bytes.Clone(entry.Path("inputSchema").Raw()), output: bytes.Clone(entry.Path("outputSchema").Raw())}
				t.name, _ = entry.Path("name").Str()
				t.readOnly, _ = entry.Path("annotations", "readOnlyHint").Bool()
				tools = append(tools, t)
			}
		}
		cursor, more := answer.msg.Result().Path("nextCursor").Str()
		if !more {
			return tools
		}
		params = string(jsontext.AppendString([]byte(`{"cursor":`), cursor)) + `}`
	}
	return tools
}

// failure is one failing exchange. Several checks inspect the same failures.
type failure struct {
	name    string
	request []byte
	said
}

// failures sends one request of every kind that must fail, once per era, and keeps the answers. Requests without an answer,
// or with a success, are omitted because other checks cover them.
func (v *visit) failures() []failure {
	if v.facts.collected {
		return v.facts.failures
	}
	v.facts.collected = true
	aside := v.log
	defer func() { v.log = aside }() // each check shows only its own messages
	if v.era == era2025 {
		if c, err := v.bare(); err == nil {
			v.keep(c, request("a request before initialize", "tools/list", ""))
		}
	}
	var c *client
	for _, attempt := range v.attempts() {
		var err error
		if c, err = v.again(c); err != nil {
			c = nil
		} else if !v.keep(c, attempt) {
			c = nil
		}
	}
	v.close()
	return v.facts.failures
}

// keep sends a request and keeps the failure. It returns false if the connection may no longer be usable.
func (v *visit) keep(c *client, s stimulus) bool {
	raw := s.raw(c)
	sent := wire.Parse(raw, wire.Limits{})
	answer, err := c.ask(v.ctx, raw, string(sent.ID()))
	if err == nil && (answer.failed() || answer.rejection()) {
		v.facts.failures = append(v.facts.failures, failure{s.name, raw, answer})
	}
	return err == nil
}

// attempts returns valid requests that must fail.
func (v *visit) attempts() []stimulus {
	out := []stimulus{unknownMethod, unknownTool, request("a tool name that is a number", "tools/call", `{"name":5}`), badCursor}
	if v.facts.offers("resources") {
		out = append(out, unknownResource)
	}
	if v.facts.offers("prompts") {
		out = append(out, unknownPrompt)
	}
	if calls := v.mayCall(); len(calls) > 0 {
		out = append(out, request("arguments that are a string", "tools/call", Call{calls[0].Tool, `"hello"`}.params()))
	}
	for _, broken := range v.violations(withSeveral) {
		out = append(out, request("arguments that break the schema of "+broken.Tool, "tools/call", broken.params()))
	}
	for _, failing := range v.tour.o.Failing {
		out = append(out, request("the failing tool "+failing.Tool, "tools/call", failing.params()))
	}
	return out
}

// eachFailure judges the failures for which about returns true; wrong returns "" for a correct one.
func (v *visit) eachFailure(about func(failure) bool, wrong func(*visit, failure) string) error {
	judged := false
	for _, f := range v.failures() {
		if !about(f) {
			continue
		}
		judged = true
		if text := wrong(v, f); text != "" {
			v.log.sent.add("", f.request)
			v.log.got.message(f.Message)
			return fmt.Errorf("%s: %s", f.name, text)
		}
	}
	if !judged {
		return skip("the server gave no such failure to look at")
	}
	return nil
}

func anyFailure(failure) bool { return true }

// protocolError and toolError report which of the two error channels a failure uses.
func protocolError(f failure) bool { return f.msg.Shape() == wire.KindError }

func toolError(f failure) bool { return f.isError() }

// text returns everything of the failure that a person or model may read, without the text of the request itself: an
// echo is not a leak.
func (f *failure) text() string {
	text := string(f.Data)
	if whole := f.msg.Value(); whole.Present() {
		text = strings.Join(texts(whole, nil), "\n")
	}
	sent := wire.Parse(f.request, wire.Limits{})
	for _, echo := range texts(sent.Params(), nil) {
		if len(echo) > 1 {
			text = strings.ReplaceAll(text, echo, "(sent)")
		}
	}
	return text
}

// texts appends every string in a value, at any depth; the parser bounds the depth.
func texts(v wire.Value, out []string) []string {
	if text, ok := v.Str(); ok {
		out = append(out, text)
	}
	for element := range v.Elements() {
		out = texts(element, out)
	}
	for _, member := range v.Members() {
		out = texts(member, out)
	}
	return out
}

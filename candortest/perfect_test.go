package candortest_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// perfect is a tiny, hand-written server that passes every check. A mutant breaks it in one way.
type perfect struct {
	mutant mutant

	mu          sync.Mutex
	initialized bool                          // guarded by mu
	open        map[string]context.CancelFunc // calls in progress, by id; guarded by mu
}

// mutant is one way to violate a rule. Its functions may be nil.
type mutant struct {
	// hear gets a message before the server does; if taken is true, the server does not see it. The reply [die] closes the
	// connection, "" sends nothing.
	hear func(raw []byte) (reply string, taken bool)
	// say changes an answer.
	say func(request, reply string) string
	// nagging makes the server answer a cancelled call.
	nagging bool
	// forgets makes the server drop a second call with an id that is in use.
	forgets bool
	// web changes an HTTP answer.
	web func(http *webAnswer)
}

// die is a reply that closes the connection.
const die = "die"

const (
	maxMessage = 24 << 10
	tools      = `[{"name":"add","description":"Adds.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"left":{"type":"integer"},` +
		`"right":{"type":"integer"}},"required":["left","right"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}},` +
		`{"name":"fail","inputSchema":{"type":"object","properties":{"reason":{"type":"string"}}},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}},` +
		`{"name":"crash","inputSchema":{"type":"object"}},{"name":"wait","inputSchema":{"type":"object"}}]`
	capabilities = `{"tools":{},"resources":{},"prompts":{}}`
)

// everything returns options that satisfy the needs of every check.
func everything() candortest.Options {
	return candortest.Options{
		Tools:     []candortest.Call{{Tool: "add", Arguments: `{"left":1,"right":2}`}},
		Failing:   []candortest.Call{{Tool: "fail", Arguments: `{"reason":"because"}`}},
		Panicking: candortest.Call{Tool: "crash"}, Slow: candortest.Call{Tool: "wait"},
		Oversize: 32 << 10, Silence: 20 * time.Millisecond, Timeout: 10 * time.Second,
	}
}

// with returns everything after change.
func with(change func(*candortest.Options)) candortest.Options {
	o := everything()
	change(&o)
	return o
}

// receive returns the answer to one message, or nil for none. It calls later with an answer that is sent after a delay.
func (p *perfect) receive(ctx context.Context, raw []byte, later func([]byte)) []byte {
	if p.mutant.hear != nil {
		if reply, taken := p.mutant.hear(raw); taken {
			return []byte(reply)
		}
	}
	reply := p.answer(ctx, raw, func(reply []byte) { later(p.say(raw, reply)) })
	return p.say(raw, reply)
}

func (p *perfect) say(raw, reply []byte) []byte {
	if reply == nil || p.mutant.say == nil {
		return reply
	}
	return []byte(p.mutant.say(string(raw), string(reply)))
}

func (p *perfect) answer(ctx context.Context, raw []byte, later func([]byte)) []byte {
	m := wire.Parse(raw, wire.Limits{MaxBytes: maxMessage, MaxDepth: 64})
	if flaw := m.Malformation().Flaw; flaw != wireflaw.None && m.Shape() != wire.KindResult {
		return rpcError(readableID(&m), codeOf(flaw), "")
	}
	if m.Kind() == wire.KindRequest {
		return p.dispatch(ctx, &m, later)
	}
	p.notice(&m)
	return nil
}

func codeOf(flaw wireflaw.Flaw) candor.Code {
	switch flaw {
	case wireflaw.TooLarge:
		return candor.CodeMessageTooLarge
	case wireflaw.NotJSON, wireflaw.Truncated, wireflaw.TrailingData, wireflaw.BOM, wireflaw.TooDeep, wireflaw.BadUTF8, wireflaw.ControlCharacter:
		return candor.CodeParseError
	default:
		return candor.CodeInvalidRequest
	}
}

// readableID returns the id that an error may carry. MCP does not allow null ids.
func readableID(m *wire.Message) wire.ID {
	if m.Malformation().Flaw <= wireflaw.TrailingData && m.Malformation().Flaw != wireflaw.None || m.ID().IsNull() {
		return nil
	}
	return m.ID()
}

func (p *perfect) notice(m *wire.Message) {
	if !m.MethodIs("notifications/cancelled") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := string(m.Params().Path("requestId").Raw())
	if cancel := p.open[key]; cancel != nil {
		delete(p.open, key)
		cancel()
	}
}

func (p *perfect) dispatch(ctx context.Context, m *wire.Message, later func([]byte)) []byte {
	meta := m.Params().Path("_meta")
	stateless := meta.Path("io.modelcontextprotocol/protocolVersion").Present()
	if stateless {
		if !meta.Path("io.modelcontextprotocol/protocolVersion").Is("2026-07-28") {
			return insert(rpcError(m.ID(), candor.CodeProtocolVersionUnsupported, ""), "supported", `["2026-07-28","2025-11-25"]`)
		}
		if !meta.Path("io.modelcontextprotocol/clientCapabilities").Present() {
			return rpcError(m.ID(), candor.CodeInvalidRequestParams, "")
		}
	} else if reply := p.lifecycle(m); reply != nil {
		return reply
	}
	reply := p.method(ctx, m, later)
	if stateless && bytes.Contains(reply, []byte(`"result":`)) {
		reply, _ = splice.SetMember(nil, reply, []string{"result", "resultType"}, []byte(`"complete"`))
	}
	return reply
}

// lifecycle handles the initialization that the older era requires.
func (p *perfect) lifecycle(m *wire.Message) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.MethodIs("initialize") {
		p.initialized = true
		return result(m, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"perfect","version":"1"}}`)
	}
	if m.MethodIs("ping") {
		return result(m, `{}`)
	}
	if !p.initialized {
		return rpcError(m.ID(), candor.CodeNotInitialized, "")
	}
	return nil
}

func (p *perfect) method(ctx context.Context, m *wire.Message, later func([]byte)) []byte {
	switch string(m.Method()) {
	case "server/discover":
		return result(m, `{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":`+capabilities+`}`)
	case "tools/list":
		if m.Params().Path("cursor").Present() {
			return rpcError(m.ID(), candor.CodeInvalidCursor, "")
		}
		return result(m, `{"tools":`+tools+`}`)
	case "tools/call":
		return p.call(ctx, m, later)
	case "resources/read":
		uri := m.Params().Path("uri").Raw()
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Resource not found","data":{"uri":%s}}}`, m.ID(), uri)
	case "prompts/get":
		return rpcError(m.ID(), candor.CodePromptNotFound, "")
	default:
		return rpcError(m.ID(), candor.CodeMethodNotFound, "")
	}
}

func (p *perfect) call(ctx context.Context, m *wire.Message, later func([]byte)) []byte {
	name, ok := m.Params().Path("name").Str()
	if !ok {
		return rpcError(m.ID(), candor.CodeInvalidRequestParams, "")
	}
	args := m.Params().Path("arguments")
	if slices.Contains([]string{"add", "fail", "crash", "wait"}, name) && args.Present() && args.Type() != wire.TypeObject {
		return toolError(m, candor.New(candor.CodeInvalidArguments, "", candor.WithTool(name), candor.WithIssues(candor.Issue{Path: "", Rule: "type", Message: "the arguments are no object"})))
	}
	switch name {
	case "add":
		if issues := addIssues(args); len(issues) > 0 {
			return toolError(m, candor.New(candor.CodeInvalidArguments, "", candor.WithTool(name), candor.WithIssues(issues...)))
		}
		return result(m, `{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}`)
	case "fail":
		return toolError(m, candor.New(candor.CodeUnavailable, "The printer is out of paper.", candor.WithTool(name)))
	case "crash":
		return toolError(m, candor.New(candor.CodeInternalError, "", candor.WithTool(name)))
	case "wait":
		return p.wait(ctx, m.Clone(), later)
	default:
		return rpcError(m.ID(), candor.CodeToolNotFound, "")
	}
}

// wait answers after a delay, unless the call is cancelled.
func (p *perfect) wait(ctx context.Context, m wire.Message, later func([]byte)) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := string(m.ID())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	p.open[key] = cancel
	go func() {
		<-ctx.Done()
		if p.mutant.nagging {
			later(toolError(&m, candor.New(candor.CodeCancelled, "")))
		}
	}()
	return nil
}

// taken returns an error if the id is in use.
func (p *perfect) taken(raw []byte) []byte {
	m := wire.Parse(raw, wire.Limits{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[string(m.ID())] == nil || m.Kind() != wire.KindRequest {
		return nil
	}
	if p.mutant.forgets {
		return []byte{}
	}
	return rpcError(m.ID(), candor.CodeDuplicateRequestID, "")
}

func addIssues(args wire.Value) []candor.Issue {
	var issues []candor.Issue
	for _, name := range []string{"left", "right"} {
		value := args.Path(name)
		switch {
		case !value.Present():
			issues = append(issues, candor.Issue{Path: "/" + name, Rule: "required", Message: "is missing"})
		case !value.IsInteger():
			issues = append(issues, candor.Issue{Path: "/" + name, Rule: "type", Message: "is no integer"})
		}
	}
	for name := range args.Members() {
		if text, _ := name.Str(); text != "left" && text != "right" {
			issues = append(issues, candor.Issue{Path: "/" + text, Rule: "additionalProperties", Message: "is not declared"})
		}
	}
	return issues
}

func result(m *wire.Message, value string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), value)
}

func toolError(m *wire.Message, e *candor.Error) []byte {
	d, _ := dialect.Lookup("candor")
	return d.Write(nil, e.With(candor.WithRef("ref-1")), dialect.Options{ID: m.ID(), Response: true})
}

func rpcError(id wire.ID, code candor.Code, message string) []byte {
	d, _ := dialect.Lookup("rpc")
	return d.Write(nil, candor.New(code, message, candor.WithRef("ref-1")), dialect.Options{ID: id})
}

// insert adds a member to error.data.
func insert(reply []byte, name, value string) []byte {
	out, err := splice.SetMember(nil, reply, []string{"error", "data", name}, []byte(value))
	if err != nil {
		return []byte(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return out
}

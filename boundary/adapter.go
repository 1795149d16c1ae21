package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// Call is a tools/call request of a server that is not built on the go-sdk.
type Call struct {
	Tool      string
	Session   string          // "" if the call has no session
	Arguments json.RawMessage // only a digest is kept
	Meta      map[string]any  // the _meta of the request, for [Options.Tracer]
	// InputSchema and OutputSchema are those of the tool, or nil. A schema that cannot be compiled accepts everything.
	InputSchema, OutputSchema json.RawMessage
	// Repeatable reports that the tool declares readOnlyHint or idempotentHint. The failure of any other tool that may have taken
	// effect is not_retryable; see [contract.AvoidSecondEffect].
	Repeatable bool
	// Client is the name of the client program in its clientInfo, or "" if it is unknown; see [contract.ClientOf].
	Client string
	// Complete reports that the protocol version is 2026-07-28 or later, in which every result has a resultType.
	Complete bool
}

// CallTool does for one call of another SDK what the middleware of [Install] does: it checks the arguments, runs the handler with
// [Options.Timeout], recovers its panic, checks the result, and records and counts a failure. The handler returns a CallToolResult
// as JSON. CallTool returns the result to send, with the error in it, or a nil error for a success. The result of a failure has
// isError, except in pattern B of the dual dialect.
//
// In the rpc dialect the failing result is in the candor dialect; [Boundary.ServeLines] replaces it by a JSON-RPC error.
func (b *Boundary) CallTool(ctx context.Context, c Call, handler func(context.Context) (json.RawMessage, error)) (json.RawMessage, *candor.Error) {
	var raw json.RawMessage
	t := c.tool()
	r := toolCall{
		g: &guard{b: b.withResults()}, name: c.Tool, tool: t, session: c.Session, raw: &raw, program: c.Client, newEra: c.Complete,
		req: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: c.Tool, Arguments: c.Arguments, Meta: c.Meta}},
		next: func(ctx context.Context, method string, _ mcp.Request) (mcp.Result, error) {
			if method != "tools/call" {
				return nil, errNoList
			}
			answer, err := handler(ctx)
			if err != nil {
				return nil, err
			}
			raw = answer
			return t.read(answer)
		},
	}.observed(ctx)
	if r.failure == nil {
		return raw, nil
	}
	failed, ok := r.result.(*mcp.CallToolResult)
	if !ok {
		return nil, r.failure
	}
	return encoded(failed), r.failure
}

// errNoList ends a request for the tools of another SDK's server.
var errNoList = errors.New("the tools of this server cannot be listed")

// tool describes the called tool.
func (c *Call) tool() *tool {
	t := &tool{listed: &mcp.Tool{Name: c.Tool}}
	t.input, _ = schemas.Get(c.InputSchema)
	if len(c.OutputSchema) > 0 {
		t.listed.OutputSchema = c.OutputSchema
		t.output, _ = schemas.Get(c.OutputSchema)
	}
	if c.Repeatable {
		t.listed.Annotations = &mcp.ToolAnnotations{IdempotentHint: true}
	}
	return t
}

// read decodes the result of a tool, but of a success only what is checked.
func (t *tool) read(raw json.RawMessage) (mcp.Result, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	v, err := wire.ParseValue(raw, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return nil, notEncodable(err)
	}
	if failed, _ := v.Path("isError").Bool(); failed {
		r := new(mcp.CallToolResult)
		if json.Unmarshal(raw, r) != nil { // such as content of a type that the go-sdk does not know
			return nil, contract.ReadResult(v)
		}
		return r, nil
	}
	r := new(mcp.CallToolResult)
	if structured := v.Path("structuredContent"); structured.Present() {
		r.StructuredContent = json.RawMessage(structured.Raw())
	}
	if asks, _ := v.Path("resultType").Str(); asks == "input_required" || v.Path("inputRequests").Present() {
		t.output = nil // a request for input has no output
	}
	return r, nil
}

// withResults returns b, or in the rpc dialect, a boundary for the candor dialect.
func (b *Boundary) withResults() *Boundary {
	if b.o.Dialect.Name() != "rpc" {
		return b
	}
	o := b.o
	o.Dialect = candorDialect
	return New(o)
}

func encoded(r *mcp.CallToolResult) json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil { // the kept parts of a tool's result were checked to be encodable
		r.Content, r.StructuredContent = r.Content[:1], nil
		raw, _ = json.Marshal(r)
	}
	return raw
}

// finish completes the response of a server on another SDK: it records a result with isError that has not passed through CallTool,
// writes the rpc dialect, announces the extension, and adds similar names to the refusal of an unknown tool. It returns the key of the
// failure that was recorded, or "".
func (b *Boundary) finish(ctx context.Context, request *jsonrpc.Request, r *jsonrpc.Response) string {
	switch {
	case request.Method == "initialize" || request.Method == "server/discover":
		if r.Error == nil {
			r.Result = b.announceIn(r.Result)
		}
		return ""
	case request.Method != "tools/call":
		return ""
	}
	params, err := wire.ParseValue(request.Params, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return ""
	}
	name, _ := params.Path("name").Str()
	if r.Error != nil {
		return b.suggestTools(ctx, request, r, name)
	}
	result, err := wire.ParseValue(r.Result, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return ""
	}
	if failed, _ := result.Path("isError").Bool(); !failed {
		return ""
	}
	e, err := dialect.ReadCandor(result.Path("_meta", dialect.MetaKey))
	if err != nil {
		said := r.Result
		r.Result, e = b.CallTool(ctx, Call{Tool: name, Arguments: params.Path("arguments").Raw()},
			func(context.Context) (json.RawMessage, error) { return said, nil })
	}
	if d := b.o.Dialect; d.Name() == "rpc" {
		m := wire.Parse(d.Write(nil, e, dialect.Options{Response: true, Stack: b.o.Stack}), wire.Limits{})
		shown := parsedRPCError(m.Error())
		r.Result, r.Error = nil, shown.wire()
		return shown.key()
	}
	return e.Ref()
}

// suggestTools replaces the refusal of an unknown tool by one with similar names. Any other error is left to the connection.
func (b *Boundary) suggestTools(ctx context.Context, request *jsonrpc.Request, r *jsonrpc.Response, name string) string {
	if b.o.Tools == nil {
		return ""
	}
	known := b.o.Tools(ctx)
	if name == "" || slices.Contains(known, name) {
		return ""
	}
	x := exchange{method: request.Method, tool: name, params: request.Params}
	shown := b.refuse(ctx, argerror.UnknownTool(name, known, candor.PartyServer), contract.VerdictProtocol, x)
	r.Error = shown.wire()
	return shown.key()
}

// stats returns the result of [statsMethod], and false if the meter does not report its counts.
func (b *Boundary) stats(params []byte) (json.RawMessage, bool) {
	reporter, ok := b.o.Meter.(reporter)
	if !ok {
		return nil, false
	}
	return withResultType(reporter.AppendStats(nil), paramsNewEra(params)), true
}

// announceIn adds the extension to the capabilities in the result of initialize or server/discover, which names the server.
func (b *Boundary) announceIn(result json.RawMessage) json.RawMessage {
	var said struct{ ServerInfo struct{ Name string } }
	if json.Unmarshal(result, &said) == nil {
		b.setName(candor.Public(said.ServerInfo.Name, maxMethodName))
	}
	raw, err := json.Marshal(b.extension())
	if err != nil {
		return result
	}
	out, err := splice.SetMember(nil, result, []string{"capabilities", "extensions", extensionName}, raw)
	if err != nil {
		return result
	}
	return out
}

package boundary

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary/internal/adapter"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

func init() {
	adapter.Of = func(b any) adapter.Adapter { return sdkNeutral{b.(*Boundary)} } //nolint:errcheck,forcetypeassert // mcpgo passes nothing else
}

// sdkNeutral implements [adapter.Adapter].
type sdkNeutral struct{ b *Boundary }

// FailCall implements [adapter.Adapter].
func (n sdkNeutral) FailCall(ctx context.Context, c adapter.Call, err error, result json.RawMessage) (json.RawMessage, *candor.Error) {
	b := n.b
	x := exchange{method: "tools/call", tool: c.Tool, session: c.Session, params: c.Arguments}
	result = redactedJSON(result)
	var from *mcp.CallToolResult
	if len(result) > 0 {
		from = new(mcp.CallToolResult)
		if json.Unmarshal(result, from) != nil {
			from = nil
		}
	}
	e, whole := b.failureOf(err, result, from)
	advice := e.Retry()
	authored := err != nil || from != nil && envelopeOf(from) != nil
	e = b.stamp(b.refineCall(ctx, e, &x, c.Repeatable || authored && givesRetry(e)), &x)
	whole = whole && e.Retry() == advice
	m := b.emissionFor(c, from)
	if whole {
		m.envelope = envelopeOf(from)
	} else {
		m.write(e)
		result = encoded(m.result)
	}
	if audit := b.record(ctx, failure{call: x, verdict: contract.VerdictTool, err: e, envelope: m.envelope}); audit != nil {
		m.from = nil
		m.write(audit)
		return encoded(m.result), audit
	}
	return result, e
}

// failureOf returns the error of a failed call, and whether the result already contains all of it.
func (b *Boundary) failureOf(err error, raw json.RawMessage, from *mcp.CallToolResult) (e *candor.Error, whole bool) {
	if err != nil {
		return attributeToTool(b.askError(err, candor.PartyTool)), false
	}
	if from != nil {
		if e := attached(from); e != nil {
			return e, e.Ref() != "" && from.IsError
		}
		return readResult(from), false
	}
	v, parseErr := wire.ParseValue(raw, wire.Limits{})
	if parseErr != nil {
		return candor.New(candor.CodeUnknownToolFailure, ""), false
	}
	return contract.ReadResult(v), false
}

// emissionFor returns an emission for the server's dialect, or for candor if that dialect has no results.
func (b *Boundary) emissionFor(c adapter.Call, from *mcp.CallToolResult) *emission {
	t := &tool{listed: &mcp.Tool{Name: c.Tool}, output: usable(c.OutputSchema)}
	if len(c.OutputSchema) > 0 {
		t.listed.OutputSchema = c.OutputSchema
	}
	m := &emission{b: b, tool: t, from: from, complete: c.Complete}
	if m.asRPC() {
		o := b.o
		o.Dialect = candorDialect
		m.b = &Boundary{o: o}
	}
	return m
}

// usable returns the compiled schema, or nil if raw is empty or cannot be compiled.
func usable(raw json.RawMessage) *schema.Schema {
	if len(raw) == 0 {
		return nil
	}
	s, err := schemas.Get(raw)
	if err != nil {
		return nil
	}
	return s
}

func encoded(r *mcp.CallToolResult) json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil { // the kept parts of a tool's result were checked to be encodable
		r.Content, r.StructuredContent = r.Content[:1], nil
		raw, _ = json.Marshal(r)
	}
	return raw
}

// Recovered implements [adapter.Adapter].
func (n sdkNeutral) Recovered(thrown any) *candor.Error {
	return n.b.askThrown(outcome{thrown: thrown, stack: panicStack()})
}

// Encode implements [adapter.Adapter].
func (n sdkNeutral) Encode(result any) (json.RawMessage, error) {
	return foreign(n.b, func() (json.RawMessage, error) {
		raw, err := json.Marshal(result)
		if err == nil {
			err = validText(raw)
		}
		return raw, err
	})
}

// CheckArguments implements [adapter.Adapter].
func (sdkNeutral) CheckArguments(inputSchema, arguments json.RawMessage) *candor.Error {
	t := &tool{input: usable(inputSchema)}
	if t.accepts(arguments) {
		return nil
	}
	return t.explain(arguments)
}

// CheckOutput implements [adapter.Adapter].
func (sdkNeutral) CheckOutput(outputSchema, structured json.RawMessage) *candor.Error {
	t := &tool{output: usable(outputSchema)}
	if t.output == nil || len(structured) > 0 && t.output.Accepts(structured) {
		return nil
	}
	return t.outputError(structured)
}

// RefuseMessage implements [adapter.Adapter].
func (n sdkNeutral) RefuseMessage(ctx context.Context, message []byte) (answer []byte, refused bool) {
	m := wire.Parse(message, streamLimits(n.b.o.MaxMessage))
	e := flawError(&m)
	if e == nil {
		return nil, false
	}
	x := exchange{method: candor.Public(string(m.Method()), maxMethodName)}
	switch m.Shape() {
	case wire.KindNotification, wire.KindResult, wire.KindError:
		n.b.suppress(ctx, e, contract.VerdictMalformed, x)
		return nil, true
	default:
		return n.b.refuse(ctx, e, contract.VerdictMalformed, x).append(nil, teach.AnswerID(&m, e.Code())), true
	}
}

// RefuseRequest implements [adapter.Adapter].
func (n sdkNeutral) RefuseRequest(ctx context.Context, request []byte, e *candor.Error) []byte {
	m, x := requestOf(request)
	if m.Shape() != wire.KindRequest {
		n.b.suppress(ctx, e, contract.VerdictProtocol, x)
		return nil
	}
	return n.b.refuse(ctx, e, contract.VerdictProtocol, x).append(nil, m.ID())
}

// SealAnswer implements [adapter.Adapter].
func (n sdkNeutral) SealAnswer(ctx context.Context, request, response []byte) []byte {
	m := wire.Parse(response, wire.Limits{AllowLoneSurrogates: true})
	if m.Shape() != wire.KindError {
		return response
	}
	asked, x := requestOf(request)
	return n.b.seal(ctx, parsedRPCError(m.Error()), x).append(nil, asked.ID())
}

// requestOf parses a request and describes it.
func requestOf(request []byte) (wire.Message, exchange) {
	m := wire.Parse(request, wire.Limits{AllowLoneSurrogates: true})
	o := openCall{method: string(m.Method()), params: paramsOf(&m)}
	return m, o.exchange()
}

// Stats implements [adapter.Adapter].
func (n sdkNeutral) Stats(params []byte) (json.RawMessage, bool) {
	reporter, ok := n.b.o.Meter.(Reporter)
	if !ok {
		return nil, false
	}
	return withResultType(reporter.AppendStats(nil), paramsNewEra(params)), true
}

// Announce implements [adapter.Adapter].
func (n sdkNeutral) Announce(result json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(n.b.extension())
	if err != nil {
		return result
	}
	out, err := splice.SetMember(nil, result, []string{"capabilities", "extensions", Extension}, raw)
	if err != nil {
		return result
	}
	return out
}

// Envelope implements [adapter.Adapter].
func (sdkNeutral) Envelope(result json.RawMessage) *candor.Error {
	v, err := wire.ParseValue(result, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return nil
	}
	e, err := dialect.ReadCandor(v.Path("_meta", dialect.MetaKey))
	if err != nil {
		return nil
	}
	return e
}

// RecordSuccess implements [adapter.Adapter].
func (n sdkNeutral) RecordSuccess(ctx context.Context, s candor.Success) { n.b.recordSuccess(ctx, s) }

// NoteRecorded implements [adapter.Adapter].
func (sdkNeutral) NoteRecorded(request *jsonrpc.Request, response *jsonrpc.Response) {
	extra, _ := request.Extra.(*mcp.RequestExtra)
	o := streamCalls.find(extra)
	switch {
	case o == nil:
	case response.Error != nil:
		o.recorded.set(rpcErrorOf(response.Error).key())
	default:
		o.recorded.set("result")
	}
}

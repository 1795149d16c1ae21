package boundary

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/internal/usercode"
	"github.com/candor-mcp/candor/wire"
)

// The functions in this file are for servers that are not built on the go-sdk: they take and return JSON. Package mcpgo uses them.

// Call describes a tools/call request independently of the SDK.
type Call struct {
	Tool      string
	Session   string          // "" if the call has no session
	Arguments json.RawMessage // only a digest is kept
	// OutputSchema is the outputSchema of the tool, or nil.
	OutputSchema json.RawMessage
	// Repeatable reports that the tool declares readOnlyHint or idempotentHint. The failure of any other tool that may have taken
	// effect is not_retryable; see [contract.AvoidSecondEffect].
	Repeatable bool
	// Complete reports that the protocol version is 2026-07-28 or later, in which every result has a resultType.
	Complete bool
}

// FailCall records and counts the failure of a tool call. It returns the result to send and the error in it. The failure is err;
// result is the result that the tool returned, or nil. If err is nil, the failure is read from the result: a result that already
// contains a complete envelope is returned unchanged, except for secrets and for retry advice that could cause a second effect.
//
// The result has isError, except in pattern B of the dual dialect. If the server's dialect is rpc, the result is in the candor
// dialect, and the caller must send the error as a JSON-RPC error.
func (b *Boundary) FailCall(ctx context.Context, c Call, err error, result json.RawMessage) (json.RawMessage, *candor.Error) {
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
func (b *Boundary) emissionFor(c Call, from *mcp.CallToolResult) *emission {
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

// Recovered returns the error for the value of a handler's panic. Call it in the deferred function that has recovered the panic.
func (b *Boundary) Recovered(thrown any) *candor.Error {
	return b.askThrown(outcome{thrown: thrown, stack: panicStack()})
}

// Encode encodes the result of a handler with a time limit, because its types may have foreign methods. It returns an error for a
// value that cannot be encoded in time, or whose encoding is not UTF-8.
func (b *Boundary) Encode(result any) (json.RawMessage, error) {
	type encoding struct {
		raw json.RawMessage
		err error
	}
	out, err := usercode.Call(b.foreignTime(), func() encoding {
		raw, err := json.Marshal(result)
		if err == nil {
			err = validText(raw)
		} else {
			err = errors.New(err.Error()) // the marshaller's error may have foreign methods, too
		}
		return encoding{raw, err}
	})
	if err != nil {
		return nil, err
	}
	return out.raw, out.err
}

// CheckArguments validates the arguments of a call against the input schema of its tool. It returns INVALID_ARGUMENTS with all
// issues, or nil. A schema that cannot be compiled accepts all arguments.
func CheckArguments(inputSchema, arguments json.RawMessage) *candor.Error {
	s := usable(inputSchema)
	if s == nil || s.Accepts(arguments) {
		return nil
	}
	return teach.Arguments(s, arguments, candor.PartyServer)
}

// CheckOutput validates the structured content of a result against the output schema of its tool. It returns OUTPUT_INVALID, or nil.
func CheckOutput(outputSchema, structured json.RawMessage) *candor.Error {
	t := &tool{output: usable(outputSchema)}
	if t.output == nil || len(structured) > 0 && t.output.Accepts(structured) {
		return nil
	}
	return t.outputError(structured)
}

// RefuseMessage checks whether the bytes are a JSON-RPC message. If not, it records and counts the failure and returns the answer to
// send, which is nil if the protocol does not allow one. The answer has no id if the id cannot be read.
func (b *Boundary) RefuseMessage(ctx context.Context, message []byte) (answer []byte, refused bool) {
	m := wire.Parse(message, streamLimits(b.o.MaxMessage))
	e := flawError(&m)
	if e == nil {
		return nil, false
	}
	x := exchange{method: contract.Bound(string(m.Method()), maxMethodName)}
	switch m.Shape() {
	case wire.KindNotification, wire.KindResult, wire.KindError:
		b.suppress(ctx, e, contract.VerdictMalformed, x)
		return nil, true
	default:
		return b.refuse(ctx, e, contract.VerdictMalformed, x).append(nil, teach.AnswerID(&m, e.Code())), true
	}
}

// RefuseRequest records and counts the failure of a request and returns the answer to send, or nil for a notification. Do not pass
// the answer to [Boundary.SealAnswer], which would record it again.
func (b *Boundary) RefuseRequest(ctx context.Context, request []byte, e *candor.Error) []byte {
	m := wire.Parse(request, wire.Limits{AllowLoneSurrogates: true})
	o := openCall{method: string(m.Method()), params: paramsOf(&m)}
	if m.Shape() != wire.KindRequest {
		b.suppress(ctx, e, contract.VerdictProtocol, o.exchange())
		return nil
	}
	return b.refuse(ctx, e, contract.VerdictProtocol, o.exchange()).append(nil, m.ID())
}

// SealAnswer returns the answer to send for a response. If the response is a JSON-RPC error, SealAnswer records and counts it and
// adds its envelope. Any other response is returned unchanged.
func (b *Boundary) SealAnswer(ctx context.Context, request, response []byte) []byte {
	m := wire.Parse(response, wire.Limits{AllowLoneSurrogates: true})
	if m.Shape() != wire.KindError {
		return response
	}
	asked := wire.Parse(request, wire.Limits{AllowLoneSurrogates: true})
	o := openCall{method: string(asked.Method()), params: paramsOf(&asked)}
	said := m.Error()
	in := rpcError{data: said.Path("data").Raw()}
	in.code, _ = said.Path("code").Int64()
	in.message, _ = said.Path("message").Str()
	return b.seal(ctx, in, o.exchange()).append(nil, asked.ID())
}

// Stats returns the result of [StatsMethod], and false if the server's meter is not a [Reporter].
func (b *Boundary) Stats() (json.RawMessage, bool) {
	reporter, ok := b.o.Meter.(Reporter)
	if !ok {
		return nil, false
	}
	return reporter.AppendStats(nil), true
}

// Announce adds [Extension] to the capabilities in the result of initialize or server/discover.
func (b *Boundary) Announce(result json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(b.extension())
	if err != nil {
		return result
	}
	out, err := splice.SetMember(nil, result, []string{"capabilities", "extensions", Extension}, raw)
	if err != nil {
		return result
	}
	return out
}

// FailedEnvelope returns the error in the envelope of a result with isError, or nil.
func FailedEnvelope(result json.RawMessage) *candor.Error {
	v, err := wire.ParseValue(result, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return nil
	}
	if failed, _ := v.Path("isError").Bool(); !failed {
		return nil
	}
	e, err := dialect.ReadCandor(v.Path("_meta", dialect.MetaKey))
	if err != nil {
		return nil
	}
	return e
}

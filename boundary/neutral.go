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

// What stands here is for servers that are not built on the go-sdk: it takes and returns JSON. Package mcpgo is its first user.

// Call is a tools/call as a server of any SDK knows it.
type Call struct {
	Tool      string
	Session   string          // "" if there is none
	Arguments json.RawMessage // only digested
	// OutputSchema is the outputSchema of the tool, nil if it declares none.
	OutputSchema json.RawMessage
	// Repeatable says that the tool is declared readOnlyHint or idempotentHint. The failure of any other tool that may have taken effect is
	// not_retryable; see [contract.AvoidSecondEffect].
	Repeatable bool
	// Complete says that the protocol version is 2026-07-28 or later, in which every result says that it is complete.
	Complete bool
}

// FailCall records and counts the failure of a tool call and returns the result that tells of it, with the error as it is told.
// The failure is err; result is what the tool returned, or nil. Without err the result itself is the failure, and is read: one
// that holds a whole envelope already leaves as it is, but for secrets and for retry advice that could cause a second effect.
//
// The result is always one with isError. Where the server's dialect is rpc it is in the candor dialect, and whoever sends it
// has to write the error as JSON-RPC.
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

// failureOf returns what went wrong, and whether the result says all of it already.
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

// emissionFor makes a result in the server's dialect, or in candor where that has no results.
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

// usable is a schema as another SDK has it, nil if there is none that can be used.
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
	if err != nil { // what is kept of a tool's own result was seen to be encodable
		r.Content, r.StructuredContent = r.Content[:1], nil
		raw, _ = json.Marshal(r)
	}
	return raw
}

// Recovered turns what a handler panicked with into an error. Call it in the deferred function that has recovered.
func (b *Boundary) Recovered(thrown any) *candor.Error {
	return b.askThrown(outcome{thrown: thrown, stack: panicStack()})
}

// Encode encodes the result of a handler, whose types may have methods of their own, and gives up after a while. It returns an error
// for a value that cannot be encoded, or whose encoding is not UTF-8.
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
			err = errors.New(err.Error()) // an error of the marshaller is foreign, too
		}
		return encoding{raw, err}
	})
	if err != nil {
		return nil, err
	}
	return out.raw, out.err
}

// CheckArguments holds the arguments of a call against the input schema of its tool and returns INVALID_ARGUMENTS with all that
// is wrong, or nil. A schema that cannot be used checks nothing.
func CheckArguments(inputSchema, arguments json.RawMessage) *candor.Error {
	s := usable(inputSchema)
	if s == nil || s.Accepts(arguments) {
		return nil
	}
	return teach.Arguments(s, arguments, candor.PartyServer)
}

// CheckOutput holds the structured content of a result against the output schema of its tool and returns OUTPUT_INVALID, or nil.
func CheckOutput(outputSchema, structured json.RawMessage) *candor.Error {
	t := &tool{output: usable(outputSchema)}
	if t.output == nil || len(structured) > 0 && t.output.Accepts(structured) {
		return nil
	}
	return t.outputError(structured)
}

// RefuseMessage looks at bytes that are to be a JSON-RPC message. If they are none it records and counts that, and returns the
// answer, nil if there must be none; an id that cannot be read is left out.
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

// RefuseRequest records and counts the failure of a request and returns the answer, nil if it was a notification. The answer must not
// pass through [Boundary.SealAnswer], which would record it again.
func (b *Boundary) RefuseRequest(ctx context.Context, request []byte, e *candor.Error) []byte {
	m := wire.Parse(request, wire.Limits{AllowLoneSurrogates: true})
	o := openCall{method: string(m.Method()), params: paramsOf(&m)}
	if m.Shape() != wire.KindRequest {
		b.suppress(ctx, e, contract.VerdictProtocol, o.exchange())
		return nil
	}
	return b.refuse(ctx, e, contract.VerdictProtocol, o.exchange()).append(nil, m.ID())
}

// SealAnswer returns the answer to a request as it may leave. A JSON-RPC error is recorded, counted and given its envelope; anything else
// is returned as it is.
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

// Stats returns what [StatsMethod] answers, and false if the server's meter cannot tell.
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

// FailedEnvelope returns the error in the envelope of a result that says isError, or nil if there is none.
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

package boundary

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// attribute makes the error of an envelope in a tool's result the tool's: it may be an upstream's, passed on, and the tool has run whatever
// the envelope says. Ref and time become the boundary's own, under which the entry is found. The details keep under "upstream" what the
// envelope said there, so that a failure can be followed; see chapter 5 of spec/contract.md.
func attribute(e *candor.Error) *candor.Error {
	theirs := map[string]any{}
	if by := e.Origin().By; by != candor.PartyTool {
		theirs["by"] = string(by)
	}
	if ref := e.Ref(); ref != "" {
		theirs["ref"] = ref
	}
	if at := e.Time(); !at.IsZero() {
		theirs["timestamp"] = at.Format(candor.TimeLayout)
	}
	at := e.CallInfo()
	at.Tool, at.SessionID = "", ""
	options := []candor.Option{candor.WithOrigin(candor.PartyTool, e.Origin().Inferred), candor.WithRef(""), candor.WithTime(time.Time{}), candor.WithCallInfo(at)}
	if len(theirs) > 0 {
		if before := e.Details().Get("upstream"); !before.IsZero() {
			theirs["upstream"] = before
		}
		options = append(options, candor.WithDetails(e.Details().With("upstream", theirs)))
	}
	return e.With(options...)
}

// isEnvelope reports structured content that repeats an envelope.
func isEnvelope(structure any) bool {
	raw, err := encodeValue(structure)
	if err != nil {
		return false
	}
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return false
	}
	_, err = dialect.ReadCandor(v)
	return err == nil
}

// repeats reports a block with the readable text of the error that the tool attached: the boundary's own block says the same.
func repeats(block mcp.Content, theirs *candor.Error) bool {
	text, ok := block.(*mcp.TextContent)
	return ok && text != nil && theirs != nil && text.Text == string(dialect.AppendText(nil, theirs))
}

// keepsAdvice reports that the retry advice of a failure stays as it is: the tool may be called twice, or the author of the server gave
// the advice.
func (c toolCall) keepsAdvice() bool { return c.advised || c.tool.repeatable() }

// refineCall is [Boundary.refine] for a tool call. The result has advice that cannot cause a second effect, unless keep is set or Refine
// gave the advice.
func (b *Boundary) refineCall(ctx context.Context, e *candor.Error, x *exchange, keep bool) *candor.Error {
	refined := b.refine(ctx, e, x)
	if keep || refineGaveRetry(e, refined) {
		return refined
	}
	return contract.AvoidSecondEffect(refined)
}

// refineGaveRetry reports that Refine gave the retry advice of an error.
func refineGaveRetry(before, after *candor.Error) bool {
	return after.RetryGiven() && (!before.RetryGiven() || before.Retry() != after.Retry())
}

// givesRetry reports that the retry advice of an error is the author's own. Advice that was read from another server is not: such an
// error has a time, which the author of a server leaves to the boundary.
func givesRetry(e *candor.Error) bool {
	return e.RetryGiven() && !e.Origin().Inferred && e.Time().IsZero()
}

// repeatable reports a tool that declares that a second call changes nothing more. An unknown tool does not.
func (t *tool) repeatable() bool {
	if t == nil || t.listed.Annotations == nil {
		return false
	}
	return t.listed.Annotations.ReadOnlyHint || t.listed.Annotations.IdempotentHint
}

package boundary

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/timestamp"
)

// attribute returns e with the tool as its origin. The envelope in a tool's result may come from an upstream server,
// but the tool has run in any case. The ref and the time are cleared, so that the boundary sets those under which the
// entry is recorded. The original origin, ref and time are kept in the details under "upstream", so that the failure
// can be traced; see chapter 5 of spec/contract.md.
func attribute(e *candor.Error) *candor.Error {
	theirs := map[string]any{}
	if by := e.Origin().By; by != candor.PartyTool {
		theirs["by"] = string(by)
	}
	if ref := e.Ref(); ref != "" {
		theirs["ref"] = ref
	}
	if at := e.Time(); !at.IsZero() {
		theirs["timestamp"] = at.Format(timestamp.Layout)
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

// repeats reports whether a block has the readable text of the error that the tool attached. The boundary's first block
// has the same text.
func repeats(block mcp.Content, theirs *candor.Error) bool {
	text, ok := block.(*mcp.TextContent)
	return ok && text != nil && theirs != nil && text.Text == string(dialect.AppendText(nil, theirs))
}

// keepsAdvice reports whether the retry advice of a failure is kept: the tool may be called twice, or the author of the
// server gave the advice.
func (c toolCall) keepsAdvice() bool { return c.advised || c.tool.repeatable() }

// refineCall is refine and stamp for a tool call. The retry advice of the result cannot cause a second effect, unless
// keep is set or Refine gave the advice.
func (b *Boundary) refineCall(ctx context.Context, e *candor.Error, x *exchange, keep bool) *candor.Error {
	refined := b.refine(ctx, e, x)
	stamped := b.stamp(refined, x)
	if keep || refineGaveRetry(e, refined) {
		return stamped
	}
	return contract.AvoidSecondEffect(stamped)
}

// refineGaveRetry reports whether Refine set the retry advice of an error.
func refineGaveRetry(before, after *candor.Error) bool {
	return after.RetryGiven() && (!before.RetryGiven() || before.Retry() != after.Retry())
}

// givesRetry reports whether the author of the server gave the retry advice of an error. Advice that was read from another server
// does not count: such an error has a time, whereas the time of an author's error is set by the boundary.
func givesRetry(e *candor.Error) bool {
	return e.RetryGiven() && !e.Origin().Inferred && e.Time().IsZero()
}

// repeatable reports whether the tool declares readOnlyHint or idempotentHint. It returns false for an unknown tool.
func (t *tool) repeatable() bool {
	if t == nil || t.listed.Annotations == nil {
		return false
	}
	return t.listed.Annotations.ReadOnlyHint || t.listed.Annotations.IdempotentHint
}

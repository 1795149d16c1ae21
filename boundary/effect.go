package boundary

import (
	"context"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

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

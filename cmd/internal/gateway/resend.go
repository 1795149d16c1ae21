package gateway

import (
	"context"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Resend returns the bytes for the client for an answer to a call that is not open: one that the upstream resends because the
// client missed it. A failure is recorded first if mayRecord allows it, so that the ref that the client gets has an entry. The result
// is nil if nothing is sent.
func (u *Upstream) Resend(ctx context.Context, answer []byte, session string, mayRecord func() bool) []byte {
	m := wire.Parse(answer, u.Options.Limits.Message)
	c := u.newRecord(m.ID(), session)
	if m.Shape() == wire.KindResult {
		c.method = "tools/call" // only tools/call fails with a result
	}
	if u.Options.Mode == ModeObserve {
		return answer
	}
	x := contract.Exchange{Response: m, Dialect: u.Options.Speaks, Ref: u.Options.NewRef(), At: u.Options.Now(), Quote: true}
	found := contract.Classify(&x)
	switch {
	case !found.Verdict.Failure(), found.Certainty == contract.Suspected:
		return answer
	case !mayRecord():
		return nil
	}
	f := c.fails(attribute(contract.Interpret(&x, found), &x), found.Verdict)
	f.Error, f.answer, f.said = contract.AvoidSecondEffect(f.Error), answer, c.withoutSecrets(&m) // also of an error: the method is not known
	c.normalise(&f, &m)
	return c.recorded(ctx, &f)
}

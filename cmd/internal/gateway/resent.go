package gateway

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// maxSettled bounds the failures that are kept for clients that resume a stream.
const maxSettled = 256

// settledFailures keeps failures that were recorded and sent on streams. If an upstream resends one to a client that missed it,
// the client gets the same envelope, with the ref of its entry. The oldest are dropped first. It is safe for concurrent use, and
// the zero value is ready to use.
type settledFailures struct {
	mu    sync.Mutex // guards the fields below
	known map[[sha256.Size]byte]settledFailure
	order [maxSettled][sha256.Size]byte
	next  int
}

// settledFailure is a failure as it was recorded, with the id of its call as the client wrote it.
type settledFailure struct {
	err     *candor.Error
	verdict contract.Verdict
	id      wire.ID
}

// settledKey identifies an answer from the upstream in a session.
func settledKey(session string, answer []byte) [sha256.Size]byte {
	h := sha256.New()
	_, _ = h.Write([]byte(session)) // hash.Hash.Write never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(answer)
	return [sha256.Size]byte(h.Sum(nil))
}

func (s *settledFailures) keep(key [sha256.Size]byte, f settledFailure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[[sha256.Size]byte]settledFailure)
	}
	if _, twice := s.known[key]; !twice {
		delete(s.known, s.order[s.next])
		s.order[s.next] = key
		s.next = (s.next + 1) % maxSettled
	}
	s.known[key] = f
}

func (s *settledFailures) find(key [sha256.Size]byte) (settledFailure, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.known[key]
	return f, ok
}

// remember keeps a failure that was recorded and is sent on a stream, keyed by the answer that reported it.
func (c *Call) remember(f *failure) {
	if c.streamed && c.session != "" && !c.newEra {
		c.up.settled.keep(settledKey(c.session, f.received), settledFailure{err: f.err, verdict: f.verdict, id: c.id.Clone()})
	}
}

// Resend returns the bytes for the client for an answer to a call that is not open: one that the upstream resends because the
// client missed it. A known failure keeps its ref. A failure that is not known, because this gateway has not seen it or has
// dropped it, is recorded first if mayRecord allows it, so that its ref has an entry. The result is nil if nothing is sent.
func (u *Upstream) Resend(ctx context.Context, answer []byte, session string, mayRecord func() bool) []byte {
	m := wire.Parse(answer, u.Options.Limits.Message)
	c := &Call{up: u, id: m.ID(), session: session, attempt: 1, began: u.Options.Now()}
	if m.Shape() == wire.KindResult {
		c.method = "tools/call" // only tools/call fails with a result
	}
	if u.Options.Mode == ModeObserve {
		return answer
	}
	if known, ok := u.settled.find(settledKey(session, answer)); ok {
		c.id, c.tool = known.id, known.err.CallInfo().Tool
		f := failure{err: known.err, verdict: known.verdict, said: c.withoutSecrets(&m)}
		c.readdress(&m)
		c.normalise(&f, &m)
		return f.sent
	}
	x := contract.Exchange{Response: m, Dialect: u.Options.Speaks, Ref: u.Options.NewRef(), At: u.Options.Now()}
	found := contract.Classify(&x)
	switch {
	case !found.Verdict.Failure(), found.Certainty == contract.Suspected:
		return answer
	case !mayRecord():
		return nil
	}
	f := failure{received: answer, verdict: found.Verdict, err: c.careful(c.stamp(attribute(contract.Interpret(&x, found), &x)))}
	f.said = c.withoutSecrets(&m)
	c.normalise(&f, &m)
	return c.recorded(ctx, &f)
}

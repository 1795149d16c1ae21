package gateway

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// maxSettled is how many failures are remembered for clients that take up a stream again.
const maxSettled = 256

// settledFailures remembers the failures that were recorded and sent on streams, so that an upstream which sends one again to a client
// that missed it gets the same envelope, with the ref of its entry. It forgets the oldest. It is safe for concurrent use, and its
// zero value is ready.
type settledFailures struct {
	mu    sync.Mutex // guards all below
	known map[[sha256.Size]byte]settledFailure
	order [maxSettled][sha256.Size]byte
	next  int
}

// settledFailure is a failure as it was recorded, and the id of its call as the client wrote it.
type settledFailure struct {
	err     *candor.Error
	verdict contract.Verdict
	id      wire.ID
}

// settledKey names an answer of the upstream in a session.
func settledKey(session string, answer []byte) [sha256.Size]byte {
	h := sha256.New()
	_, _ = h.Write([]byte(session)) // a hash does not fail
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

// remember keeps a failure that was recorded and is sent on a stream, by the answer that told of it.
func (c *Call) remember(f *failure) {
	if c.streamed && c.session != "" && !c.newEra {
		c.up.settled.keep(settledKey(c.session, f.received), settledFailure{err: f.err, verdict: f.verdict, id: c.id.Clone()})
	}
}

// Resend returns what a client gets of an answer to a call that is not open: one that the upstream sends again because the client has
// missed it. A failure that was settled keeps its ref. One that is not remembered, because this gateway has not seen it or has
// forgotten it, is recorded first if mayRecord allows it, so that its ref has an entry. It is nil if nothing is sent.
func (u *Upstream) Resend(ctx context.Context, answer []byte, session string, mayRecord func() bool) []byte {
	m := wire.Parse(answer, u.Options.Limits.Message)
	c := &Call{up: u, id: m.ID(), session: session, attempt: 1, began: u.Options.Now()}
	if m.Shape() == wire.KindResult {
		c.method = "tools/call" // nothing else fails by a result
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

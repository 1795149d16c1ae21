package gateway

import (
	"context"
	"crypto/sha256"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// maxSent bounds the failures that are kept for clients that resume a stream.
const maxSent = 256

// sentFailure is a failure that was recorded and sent on a stream, with the id of its call as the client wrote it. If an upstream
// resends it to a client that missed it, the client gets the same envelope, with the ref of its entry.
type sentFailure struct {
	err     *candor.Error
	verdict contract.Verdict
	id      wire.ID
}

// sentKey identifies an answer from the upstream in a session.
func sentKey(session string, answer []byte) [sha256.Size]byte {
	return sha256.Sum256(append(append([]byte(session), 0), answer...))
}

// Recent is a map that drops its oldest entries when it is full. It is not safe for concurrent use.
type Recent[K comparable, V any] struct {
	limit  int
	values map[K]V
	order  []K // oldest first, starting at next
	next   int
}

// NewRecent returns a map for at most limit entries.
func NewRecent[K comparable, V any](limit int) *Recent[K, V] {
	return &Recent[K, V]{limit: limit, values: map[K]V{}}
}

// Put adds or replaces an entry.
func (r *Recent[K, V]) Put(key K, v V) {
	if _, known := r.values[key]; !known && len(r.order) < r.limit {
		r.order = append(r.order, key)
	} else if !known {
		delete(r.values, r.order[r.next])
		r.order[r.next] = key
		r.next = (r.next + 1) % r.limit
	}
	r.values[key] = v
}

// Get returns an entry.
func (r *Recent[K, V]) Get(key K) (V, bool) {
	v, ok := r.values[key]
	return v, ok
}

// Delete removes an entry, and reports whether it was there.
func (r *Recent[K, V]) Delete(key K) bool {
	_, ok := r.values[key]
	delete(r.values, key)
	return ok
}

// remember keeps a failure that was recorded and is sent on a stream, keyed by the answer that reported it.
func (c *Call) remember(f *failure) {
	if c.streamed && c.session != "" && !c.newEra {
		c.up.sentMu.Lock()
		defer c.up.sentMu.Unlock()
		c.up.sent.Put(sentKey(c.session, f.received), sentFailure{err: f.err, verdict: f.verdict, id: c.id.Clone()})
	}
}

// Resend returns the bytes for the client for an answer to a call that is not open: one that the upstream resends because the
// client missed it. A known failure keeps its ref. A failure that is not known, because this gateway has not seen it or has
// dropped it, is recorded first if mayRecord allows it, so that its ref has an entry. The result is nil if nothing is sent.
func (u *Upstream) Resend(ctx context.Context, answer []byte, session string, mayRecord func() bool) []byte {
	m := wire.Parse(answer, u.Options.Limits.Message)
	c := u.newRecord(m.ID(), session)
	if m.Shape() == wire.KindResult {
		c.method = "tools/call" // only tools/call fails with a result
	}
	if u.Options.Mode == ModeObserve {
		return answer
	}
	u.sentMu.Lock()
	known, ok := u.sent.Get(sentKey(session, answer))
	u.sentMu.Unlock()
	if ok {
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
	f := failure{received: answer, verdict: found.Verdict, err: c.withoutSecondEffect(c.stamp(attribute(contract.Interpret(&x, found), &x)))}
	f.said = c.withoutSecrets(&m)
	c.normalise(&f, &m)
	return c.recorded(ctx, &f)
}

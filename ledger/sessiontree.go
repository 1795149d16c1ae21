package ledger

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/codes/dual"
)

// sessionLeaf is the record hash of an entry in a session's tree: the record is the entry's own hash.
func sessionLeaf(hash Digest) tlog.Hash { return tlog.RecordHash(hash[:]) }

// bound returns a filter for the entries of a session. The search for the bytes comes first, because almost all entries are of others.
func bound(id string) func(*Line) bool {
	text := []byte(`"session_id":`)
	return func(l *Line) bool {
		if l.Kind == KindSetting || l.Kind == KindCheckpoint || !bytes.Contains(l.Raw(), text) {
			return false
		}
		record, err := l.Record()
		return err == nil && record.SessionID == id
	}
}

// sum builds the tree over the entries that are bound to a session now.
func (s *Sessions) sum(ctx context.Context, id string, begun time.Time) (sessionState, tlog.Hash, error) {
	state := sessionState{ID: id, State: sessionFinalised}
	parts := map[string]*sessionPart{}
	var tree frontier
	options := ReadOptions{Since: begun.Add(-sessionSlack), Keep: bound(id)}
	for l, err := range s.reader.Entries(ctx, options) {
		if err != nil {
			return state, tlog.Hash{}, err
		}
		part := parts[string(l.chain)]
		if part == nil {
			part = &sessionPart{Chain: l.Chain(), First: l.Seq}
			parts[part.Chain] = part
		}
		part.Last = l.Seq
		tree.push(sessionLeaf(l.Hash))
	}
	if err := ctx.Err(); err != nil {
		return state, tlog.Hash{}, err
	}
	if tree.size == 0 {
		return state, tlog.Hash{}, sessionError(dual.NoRecords, id)
	}
	for _, chain := range sortedKeys(parts) {
		state.Parts = append(state.Parts, *parts[chain])
	}
	state.Root, state.Count = tree.root().String(), tree.size
	return state, tree.root(), nil
}

// proveInside proves an entry's place in the session's tree.
func (s *Sessions) proveInside(ctx context.Context, found *session, chain string, seq uint64) (*SessionProof, error) {
	walk := &sessionWalk{ctx: ctx, reader: s.reader, state: &found.state, chain: chain, seq: seq}
	if _, err := walk.ReadHashes(nil); err != nil {
		return nil, err
	}
	if walk.proof == nil {
		return nil, fmt.Errorf("%w: %s/%d is not in session %s", ErrNoEntry, chain, seq, found.state.ID)
	}
	proof := *walk.proof
	var err error
	proof.Hashes, err = tlog.ProveRecord(found.state.Count, proof.Index, walk)
	if err != nil {
		return nil, fmt.Errorf("proving %s/%d in session %s: %w", chain, seq, found.state.ID, err)
	}
	return &proof, nil
}

// sessionWalk reads the entries of a session once for the hashes that a proof needs.
type sessionWalk struct {
	ctx    context.Context //nolint:containedctx // tlog's interface has no room for one
	reader *Reader
	state  *sessionState
	chain  string
	seq    uint64
	proof  *SessionProof
}

// ReadHashes finds the hashes with these indexes. It implements [tlog.HashReader].
func (w *sessionWalk) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	places := map[int64]int{}
	for i, index := range indexes {
		places[index] = i
	}
	tree := frontier{node: func(level int, n int64, h tlog.Hash) {
		if i, wanted := places[tlog.StoredHashIndex(level, n)]; wanted {
			found[i] = h
		}
	}}
	for l, err := range w.reader.Entries(w.ctx, ReadOptions{Keep: w.inside()}) {
		if err != nil {
			return nil, err
		}
		if l.Seq == w.seq && l.In(w.chain) {
			w.proof = &SessionProof{ID: w.state.ID, Index: tree.size, Entry: string(l.Raw())}
		}
		tree.push(sessionLeaf(l.Hash))
	}
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if tree.root().String() != w.state.Root {
		return nil, fmt.Errorf("the entries of session %s are not those it was finalised with: verify the ledger", w.state.ID)
	}
	return found, nil
}

// inside returns a filter for the entries that the session was finalised with.
func (w *sessionWalk) inside() func(*Line) bool {
	parts := map[string]sessionPart{}
	for _, p := range w.state.Parts {
		parts[p.Chain] = p
	}
	ours := bound(w.state.ID)
	return func(l *Line) bool {
		p, named := parts[string(l.chain)]
		return named && l.Seq >= p.First && l.Seq <= p.Last && ours(l)
	}
}

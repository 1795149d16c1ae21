package proof

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/frontier"
)

// Session proves that an entry belongs to a session. The entry of the enclosing [Proof] is the one that finalised the
// session and states its root.
type Session struct {
	ID     string      `json:"id"`
	Index  int64       `json:"index"` // from 0, in the order of the session
	Entry  string      `json:"entry"`
	Hashes []tlog.Hash `json:"hashes"`
}

// proveSession proves that an entry belongs to a session that was finalised.
func proveSession(ctx context.Context, dir, id string, at ledger.Receipt) (Proof, error) {
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return Proof{}, err
	}
	defer reader.Close() //nolint:errcheck // only read
	state, finalised, err := findSession(ctx, reader, id)
	if err != nil {
		return Proof{}, err
	}
	inner, err := proveMember(ctx, reader, &state, at)
	if err != nil {
		return Proof{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Proof{}, fmt.Errorf("opening the ledger: %w", err)
	}
	defer root.Close() //nolint:errcheck // only read
	outer, err := prove(ctx, root.FS(), finalised)
	outer.Session = inner
	return outer, err
}

// findSession returns the final state of a session and the entry that records it. If there are several, the first counts.
func findSession(ctx context.Context, reader *ledger.Reader, id string) (state format.Session, at ledger.Receipt, err error) {
	begun := false
	isSetting := func(l *ledger.Line) bool { return l.Kind == ledger.KindSetting }
	for l, err := range reader.Entries(ctx, ledger.ReadOptions{Session: id, Keep: isSetting}) {
		if err != nil {
			return state, at, err
		}
		found, ok := format.SessionIn(l.Raw())
		if !ok || found.ID != id {
			continue
		}
		if begun = true; found.State == format.SessionFinalised {
			return found, ledger.Receipt{Chain: l.Chain(), Seq: l.Seq}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return state, at, err
	}
	code := dual.SessionNotFound
	if begun {
		code = dual.NotFinalized
	}
	return state, at, candor.NotRetryable(code, "", candor.WithSession(id, "", ""))
}

// proveMember proves an entry's position in the session's tree.
func proveMember(ctx context.Context, reader *ledger.Reader, state *format.Session, at ledger.Receipt) (*Session, error) {
	walk := &sessionWalk{ctx: ctx, reader: reader, state: state, at: at}
	if _, err := walk.ReadHashes(nil); err != nil {
		return nil, err
	}
	if walk.proof == nil {
		return nil, fmt.Errorf("%w: %s/%d is not in session %s", ErrNoEntry, at.Chain, at.Seq, state.ID)
	}
	proof := *walk.proof
	var err error
	proof.Hashes, err = tlog.ProveRecord(state.Count, proof.Index, walk)
	if err != nil {
		return nil, fmt.Errorf("proving %s/%d in session %s: %w", at.Chain, at.Seq, state.ID, err)
	}
	return &proof, nil
}

// sessionWalk reads the entries of a session once and collects the hashes that a proof needs.
type sessionWalk struct {
	ctx    context.Context //nolint:containedctx // tlog.HashReader takes none
	reader *ledger.Reader
	state  *format.Session
	at     ledger.Receipt
	proof  *Session
}

// ReadHashes returns the hashes with these indexes. It implements [tlog.HashReader].
func (w *sessionWalk) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := newHashFinder(indexes)
	nodes := frontier.Frontier{Node: found.add}
	for l, err := range w.reader.Entries(w.ctx, ledger.ReadOptions{Session: w.state.ID, Keep: w.member()}) {
		if err != nil {
			return nil, err
		}
		if l.Seq == w.at.Seq && l.In(w.at.Chain) {
			w.proof = &Session{ID: w.state.ID, Index: nodes.Size, Entry: string(l.Raw())}
		}
		nodes.Push(tlog.RecordHash(l.Hash[:]))
	}
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if nodes.Root().String() != w.state.Root {
		return nil, fmt.Errorf("session %s: its entries are not those it was finalised with; run candor ledger verify", w.state.ID)
	}
	return found.hashes, nil
}

// member returns a filter for the entries that the session was finalised with.
func (w *sessionWalk) member() func(*ledger.Line) bool {
	parts := map[string]format.SessionPart{}
	for _, p := range w.state.Parts {
		parts[p.Chain] = p
	}
	return func(l *ledger.Line) bool {
		p, named := parts[l.Chain()]
		return named && l.Seq >= p.First && l.Seq <= p.Last && l.Kind != ledger.KindSetting && l.Kind != ledger.KindCheckpoint
	}
}

// checkSession checks the inner part of a proof: that the entry is in the session whose root the outer entry states.
func checkSession(p *Session, proven *Result) error {
	state, ok := format.ParseSession(proven.Record.Data)
	if !ok || proven.Record.Kind != ledger.KindSetting || state.State != format.SessionFinalised || state.ID != p.ID {
		return errors.New("the signed entry does not finalise the session")
	}
	line, record, err := proofLine(p.Entry)
	if err != nil {
		return err
	}
	if record.SessionID != p.ID {
		return errors.New("the entry is bound to another session")
	}
	if p.Index < 0 || p.Index >= state.Count {
		return fmt.Errorf("the session has no entry %d", p.Index)
	}
	root, err := tlog.ParseHash(state.Root)
	if err != nil {
		return fmt.Errorf("reading the session's root: %w", err)
	}
	if err := tlog.CheckRecord(p.Hashes, state.Count, root, p.Index, tlog.RecordHash(line.Hash[:])); err != nil {
		return errors.New("the entry is not in the session's tree")
	}
	proven.Record, proven.SessionID, proven.SessionLen = record, p.ID, state.Count
	return nil
}

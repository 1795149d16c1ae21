package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// Appender appends entries. [Ledger] implements it.
type Appender interface {
	Append(ctx context.Context, e Entry) (Receipt, error)
}

// Sessions begins and finalises sessions. Entries are bound to a session by [Entry.SessionID]; finalising it fixes
// their number, order and content in one root.
//
// Begin and Finalise each write a single entry, so that a crash leaves either the state before or the state after. A
// lock in the folder excludes other processes meanwhile. Sessions is safe for concurrent use.
type Sessions struct {
	to     Appender
	reader *Reader

	mu    sync.Mutex // guards the fields below
	walk  *merge
	known map[string]*session
}

// session is the state of a session.
type session struct {
	state format.Session
	begun time.Time
}

const (
	sessionLock  = "sessions.lock"
	sessionWait  = 5 * time.Second
	sessionSlack = time.Minute // maximum difference between the clocks of two writers
)

// OpenSessions returns the sessions of the ledger in dir. It appends entries through to, which must write to that
// ledger. Nothing is read before the first call.
func OpenSessions(dir string, to Appender) (*Sessions, error) {
	reader, err := OpenReader(dir)
	if err != nil {
		return nil, err
	}
	return &Sessions{to: to, reader: reader, known: map[string]*session{}, walk: newMerge(reader, ReadOptions{Follow: true})}, nil
}

// Close closes the folder. It does not close the ledger.
func (s *Sessions) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk.close()
	return s.reader.Close()
}

// Begin begins a session. It returns ERR_SESSION_EXISTS if the session already exists.
func (s *Sessions) Begin(ctx context.Context, id string) error {
	if id == "" || len(id) > maxLabel {
		return sessionError(dual.InvalidParams, id)
	}
	return s.exclusively(ctx, func() error {
		if s.known[id] != nil {
			return sessionError(dual.SessionExists, id)
		}
		_, err := s.record(ctx, format.Session{ID: id, State: format.SessionBegun})
		return err
	})
}

// Finalise finalises a session and returns its root and its number of entries. If several callers, in any processes,
// finalise a session at the same time, one succeeds and the others get ERR_ALREADY_FINALIZED. Other errors are
// ERR_SESSION_NOT_FOUND and ERR_NO_RECORDS.
func (s *Sessions) Finalise(ctx context.Context, id string) (root tlog.Hash, count int64, err error) {
	err = s.exclusively(ctx, func() error {
		found := s.known[id]
		switch {
		case found == nil:
			return sessionError(dual.SessionNotFound, id)
		case found.state.State == format.SessionFinalised:
			return sessionError(dual.AlreadyFinalized, id)
		}
		state, top, err := s.sum(ctx, id, found.begun)
		if err != nil {
			return err
		}
		root, count = top, state.Count
		_, err = s.record(ctx, state)
		return err
	})
	if err != nil {
		return tlog.Hash{}, 0, err
	}
	return root, count, nil
}

// Root returns the root and the number of entries of a finalised session. The error is ERR_SESSION_NOT_FOUND for an
// unknown session, and ERR_NOT_FINALIZED for one that is still open.
func (s *Sessions) Root(ctx context.Context, id string) (root tlog.Hash, count int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return tlog.Hash{}, 0, err
	}
	found := s.known[id]
	switch {
	case found == nil:
		return tlog.Hash{}, 0, sessionError(dual.SessionNotFound, id)
	case found.state.State != format.SessionFinalised:
		return tlog.Hash{}, 0, sessionError(dual.NotFinalized, id)
	}
	root, err = tlog.ParseHash(found.state.Root)
	return root, found.state.Count, err
}

// exclusively runs act while no other caller, in this process or another, begins or finalises a session.
func (s *Sessions) exclusively(ctx context.Context, act func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock, err := filelock.Wait(ctx, s.reader.root, sessionLock, sessionWait)
	if errors.Is(err, filelock.ErrLocked) || err != nil && ctx.Err() != nil {
		return candor.New(candor.CodeLedgerLocked, "Another process is beginning or finalising a session.", candor.WithCause(err))
	}
	if err != nil {
		return err
	}
	err = s.refresh(ctx)
	if err == nil {
		err = act()
	}
	return errors.Join(err, lock.Close())
}

// refresh reads the entries that were written since the last refresh.
func (s *Sessions) refresh(ctx context.Context) (err error) {
	s.walk.drain(ctx, func(l *Line, bad error) bool {
		if bad != nil {
			err = bad
			return false
		}
		if l.Kind == KindSetting {
			s.learn(l)
		}
		return true
	})
	return errors.Join(err, ctx.Err())
}

// learn records the state of a session from a begun or finalised entry. The first entry of each kind counts.
func (s *Sessions) learn(l *Line) {
	state, ok := format.SessionIn(l.Raw())
	if !ok {
		return
	}
	found := s.known[state.ID]
	if found == nil && state.State == format.SessionBegun ||
		state.State == format.SessionFinalised && (found == nil || found.state.State != format.SessionFinalised) {
		s.known[state.ID] = &session{state: state, begun: l.Time}
	}
}

// record appends a setting entry with the state of a session.
func (s *Sessions) record(ctx context.Context, state format.Session) (Receipt, error) {
	raw, err := json.Marshal(map[string]format.Session{"session": state})
	if err != nil {
		return Receipt{}, fmt.Errorf("writing the session: %w", err)
	}
	receipt, err := s.to.Append(ctx, Entry{Kind: KindSetting, SessionID: state.ID, raw: raw})
	if err == nil && receipt.Unrecorded {
		err = candor.New(candor.CodeLedgerFailed, "The session could not be recorded.")
	}
	return receipt, err
}

// sum builds the tree over the entries that are currently bound to a session.
func (s *Sessions) sum(ctx context.Context, id string, begun time.Time) (format.Session, tlog.Hash, error) {
	state := format.Session{ID: id, State: format.SessionFinalised}
	parts := map[string]*format.SessionPart{}
	var nodes tree.Tree
	options := ReadOptions{Session: id, Since: begun.Add(-sessionSlack), Keep: isSessionMember}
	for l, err := range s.reader.Entries(ctx, options) {
		if err != nil {
			return state, tlog.Hash{}, err
		}
		part := parts[string(l.chain)]
		if part == nil {
			part = &format.SessionPart{Chain: l.Chain(), First: l.Seq}
			parts[part.Chain] = part
		}
		part.Last = l.Seq
		nodes.Push(tlog.RecordHash(l.Hash[:]))
	}
	if err := ctx.Err(); err != nil {
		return state, tlog.Hash{}, err
	}
	if nodes.Size == 0 {
		return state, tlog.Hash{}, sessionError(dual.NoRecords, id)
	}
	for _, chain := range slices.Sorted(maps.Keys(parts)) {
		state.Parts = append(state.Parts, *parts[chain])
	}
	state.Root, state.Count = nodes.Root().String(), int64(nodes.Size) //nolint:gosec // a count of entries
	return state, nodes.Root(), nil
}

// isSessionMember reports whether a line that names a session belongs to it. The entries that begin and finalise the
// session do not.
func isSessionMember(l *Line) bool { return l.Kind != KindSetting && l.Kind != KindCheckpoint }

func sessionError(code candor.Code, id string) error {
	return candor.NotRetryable(code, "", candor.WithSession(id, "", ""))
}

package dual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/consensus"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/export"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	"github.com/candor-mcp/candor/ledger"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// Admin reads the state of a server for its operator. The server may be running. Admin changes nothing.
type Admin struct {
	store *store.Store
	home  home
}

// Errors of an [Admin].
var (
	ErrNoDatabase  = errors.New("the folder has no database; no server was started with it")
	ErrNoTask      = errors.New("no task has this id")
	ErrNoRecords   = errors.New("the task has no thought records")
	ErrBroken      = errors.New("the records do not verify")
	ErrNotAttested = errors.New("the ledger does not attest the last record of the task")
)

// OpenAdmin opens the database in a state directory. The directory of the ledger may be "".
func OpenAdmin(ctx context.Context, state, trail string) (*Admin, error) {
	if _, err := os.Stat(filepath.Join(state, store.FileName)); err != nil {
		return nil, noDatabase(ctx, newHome(state, trail))
	}
	db, err := store.OpenReadOnly(ctx, state)
	if err != nil {
		return nil, err
	}
	return &Admin{db, newHome(state, trail)}, nil
}

// noDatabase returns the error for a directory without a database. The error differs if the ledger attests that there
// was one.
func noDatabase(ctx context.Context, h home) error {
	if h.ledger != "" {
		all, err := readStores(ctx, h.ledger)
		if gone := all.missing("", h.digest); err == nil && gone != "" {
			return errOtherStore(gone)
		}
	}
	return ErrNoDatabase
}

// Close closes the database.
func (a *Admin) Close() error { return a.store.Close() }

// TaskInfo is a task and the number of its thought records.
type TaskInfo struct {
	tasks.Task
	Records int64 `json:"record_count"`
}

// Tasks returns the tasks with a status, "" for all, in the order of their creation, and the damaged rows.
func (a *Admin) Tasks(ctx context.Context, status tasks.Status) (all []TaskInfo, damaged []store.DamagedError, err error) {
	all = []TaskInfo{}
	err = a.store.View(ctx, func(tx *store.Tx) error {
		for after := ""; ; {
			page, err := tx.Tasks(store.TaskFilter{Status: status, After: after, Limit: pendingBatch})
			if err != nil {
				return err
			}
			damaged = append(damaged, page.Damaged...)
			for _, t := range page.Tasks {
				records, err := tx.CountThoughts(t.ID)
				if err != nil {
					return err
				}
				all = append(all, TaskInfo{t, records})
			}
			if !page.More {
				return nil
			}
			after = page.Tasks[len(page.Tasks)-1].ID
		}
	})
	return all, damaged, err
}

// SessionInfo is an audit session, the number of records bound to it now, and the position of its root in the ledger.
type SessionInfo struct {
	store.Session
	Bound  int64           `json:"bound_records"`
	Ledger *store.Position `json:"ledger,omitempty"`
}

// Sessions returns all audit sessions, the newest first.
func (a *Admin) Sessions(ctx context.Context) ([]SessionInfo, error) {
	all := []SessionInfo{}
	err := a.store.View(ctx, func(tx *store.Tx) error {
		sessions, _, err := tx.Sessions(0, -1)
		if err != nil {
			return err
		}
		for _, s := range sessions {
			info := SessionInfo{Session: s}
			if info.Bound, err = tx.CountBound(s.ID); err != nil {
				return err
			}
			if s.Position.Chain != "" {
				info.Ledger = &s.Position
			}
			all = append(all, info)
		}
		return nil
	})
	return all, err
}

// RoundInfo is a round of votes and its refused second votes.
type RoundInfo struct {
	consensus.Round
	Accepted      int                  `json:"accepted"`
	Rejected      int                  `json:"rejected"`
	Equivocations []store.Equivocation `json:"equivocations"`
}

// Rounds returns all rounds, in the order in which they were proposed.
func (a *Admin) Rounds(ctx context.Context) ([]RoundInfo, error) {
	all := []RoundInfo{}
	err := a.store.View(ctx, func(tx *store.Tx) error {
		ids, err := tx.RoundIDs(0, -1)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r, err := tx.Round(id.ID)
			if err != nil {
				return err
			}
			info := RoundInfo{Round: *r}
			info.Accepted, info.Rejected = r.Count()
			if info.Equivocations, err = tx.Equivocations(id.ID); err != nil {
				return err
			}
			all = append(all, info)
		}
		return nil
	})
	return all, err
}

// Verify checks the thought records of all tasks, or of one, against their hashes and the ledger, and the roots of sessions.
func (a *Admin) Verify(ctx context.Context, task string) (*Verification, error) {
	return verify(ctx, a.store, a.home, task)
}

// FindTask returns the id of the only task whose id begins with typed.
func (a *Admin) FindTask(ctx context.Context, typed string) (string, error) {
	ids, err := store.Get(ctx, a.store, func(tx *store.Tx) ([]string, error) { return tx.TaskIDs(typed, 2) })
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", ErrNoTask
	case len(ids) > 1:
		return "", fmt.Errorf("several tasks have an id that begins with %q", typed)
	}
	return ids[0], nil
}

// Export returns the thought records of a task with the ledger's proof for the last of them. The error is
// [ledgerproof.ErrNotCovered] until a checkpoint covers that record, about a second after it was recorded. Records that
// do not verify are not exported.
func (a *Admin) Export(ctx context.Context, task string) (*export.File, error) {
	out := &export.File{Thoughts: &export.Thoughts{}}
	var place store.Position
	err := a.store.View(ctx, func(tx *store.Tx) error {
		t, err := tx.Task(task)
		if err != nil {
			return err
		}
		out.Thoughts.Task = *t
		records := &out.Thoughts.Records
		if err := tx.Thoughts(store.ThoughtFilter{TaskID: task}, func(_ int64, r *trail.Record) error {
			*records = append(*records, *r)
			return nil
		}); err != nil {
			return err
		}
		if len(*records) == 0 {
			return ErrNoRecords
		}
		attested := false
		if place, attested, err = tx.ThoughtPosition((*records)[len(*records)-1].ID); err == nil && (!attested || a.home.ledger == "") {
			err = ErrNotAttested
		}
		return err
	})
	if errors.Is(err, ErrNotAttested) {
		if broken := a.refuseBroken(ctx, task); broken != nil {
			err = broken // a server would not attest it either
		}
	}
	if err != nil {
		return nil, err
	}
	if out.Proof, err = ledgerproof.Make(ctx, a.home.ledger, ledger.Receipt{Chain: place.Chain, Seq: place.Seq}, ledgerproof.Options{}); err != nil {
		return nil, err
	}
	if err := a.refuseBroken(ctx, task); err != nil {
		return nil, err
	}
	return out, checkExport(out)
}

// refuseBroken returns [ErrBroken] if a task does not verify.
func (a *Admin) refuseBroken(ctx context.Context, task string) error {
	v, err := a.Verify(ctx, task)
	if err == nil && !v.Valid {
		err = fmt.Errorf("%w: %s", ErrBroken, v.firstFault())
	}
	return err
}

// checkExport returns an error for a file that a third party would reject.
func checkExport(f *export.File) error {
	var entry struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(f.Entry), &entry); err != nil {
		return err
	}
	return f.Thoughts.Check(entry.Data)
}

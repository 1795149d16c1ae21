package dual

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/ledger"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// Verification is the result of audit_verify_chain.
type Verification struct {
	Valid         bool            `json:"valid"`
	Records       int             `json:"record_count"`
	Tasks         int             `json:"task_count"`
	Attested      int             `json:"attested_count"` // records that were compared with the ledger
	BrokenCount   int             `json:"broken_count"`
	FirstBrokenAt *rules.Broken   `json:"first_broken_at,omitempty"`
	Broken        []rules.Broken  `json:"broken,omitempty"`          // the first 20
	Sessions      int             `json:"session_count"`             // finalised sessions with a recomputed root
	BrokenRoots   []BrokenSession `json:"broken_sessions,omitempty"` // the first 20
	Other         []string        `json:"other_faults,omitempty"`    // of the database or the ledger as a whole, the first 20
}

// BrokenSession is a finalised session with records that do not match its root.
type BrokenSession struct {
	ID     string `json:"session_id"`
	Reason string `json:"reason"`
}

// firstFault describes the first fault in one line, or returns "".
func (v *Verification) firstFault() string {
	switch {
	case len(v.Other) > 0:
		return v.Other[0]
	case len(v.Broken) > 0:
		return fmt.Sprintf("task %s, record %d: %s", v.Broken[0].TaskID, v.Broken[0].Seq, v.Broken[0].Fault)
	case len(v.BrokenRoots) > 0:
		return fmt.Sprintf("session %s: %s", v.BrokenRoots[0].ID, v.BrokenRoots[0].Reason)
	default:
		return ""
	}
}

type verifyArgs struct {
	TaskID string `json:"task_id"`
}

func (s *System) auditVerifyChain() workbench.Tool {
	return workbench.Tool{
		Name: "audit_verify_chain", Title: "Verify the thought records",
		About: "Verify the chain of each task, or of one, against its hashes and against what the ledger attests, and the roots of finalised sessions. valid is false if anything was changed or removed.",
		Input: `{"task_id":` + property(uuidSchema, "Only the records of this task.") + `}`, ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, c *workbench.Call, in verifyArgs) (any, error) {
			return verify(ctx, s.store, s.home(c.Bench()), in.TaskID)
		}),
	}
}

// verification is one run of verify. It reads the database in one transaction, and then the ledger, because a record is
// in the ledger before the database has its position there. What the ledger attests beyond that is looked up at the
// end: a record is in the database before it is in the ledger.
type verification struct {
	task     string // "" for all
	chain    rules.Verifier
	records  map[rules.Place]stored
	sessions map[string]*store.Session // by digest: those to check
	named    map[string]bool           // digests of the sessions that the records of task belong to
	claims   map[store.Position]func() // each reports that the ledger does not have the entry at a position that the database names
	later    []*rules.Attestation      // of records and sessions that were not in the database
	broken   map[string]bool           // digests of broken sessions, so that each counts once
	out      Verification
}

// stored is a record in the database.
type stored struct {
	hash string
	at   store.Position
}

// verify checks all records of a database and the roots of sessions. With a task it checks the records of the task, and
// the sessions that are for the task or have one of its records.
func verify(ctx context.Context, db *store.Store, h home, task string) (*Verification, error) {
	v := &verification{task: task, records: map[rules.Place]stored{}, sessions: map[string]*store.Session{}, named: map[string]bool{},
		claims: map[store.Position]func(){}, broken: map[string]bool{}}
	var id string
	var missing error // the task does not exist; the ledger may still attest its records
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		if task != "" {
			if _, err = findTask(tx, task); errors.As(err, new(*candor.Error)) {
				missing = err
			} else if err != nil {
				return err
			}
		}
		if id, err = tx.ID(); errors.Is(err, store.ErrNotFound) && h.ledger != "" {
			v.other("the id of the database was removed")
		} else if err != nil && h.ledger != "" {
			return err
		}
		return v.database(tx)
	})
	count := 0
	if err == nil && h.ledger != "" {
		count, err = v.ledger(ctx, db, h, id)
	}
	if err == nil && count == 0 {
		err = missing
	}
	if err != nil {
		return nil, err
	}
	v.out.Records, v.out.Tasks, v.out.Broken = v.chain.Records, v.chain.Tasks, v.chain.Broken
	v.out.BrokenCount += v.chain.Faults + len(v.broken)
	v.out.Valid = v.out.BrokenCount == 0
	if len(v.out.Broken) > 0 {
		v.out.FirstBrokenAt = &v.out.Broken[0]
	}
	return &v.out, nil
}

// database checks the chains and the roots.
func (v *verification) database(tx *store.Tx) error {
	err := tx.Chains(v.task, func(r *rules.Record, at store.Position) error {
		v.chain.Add(r)
		v.named[rules.Digest(r.SessionID)] = true
		place := rules.Place{TaskID: r.TaskID, Seq: r.Seq}
		if _, taken := v.records[place]; !taken {
			v.records[place] = stored{r.Hash, at}
		}
		v.claim(at, func() { v.chain.Fault(rules.Broken{Place: place, ID: r.ID, Fault: rules.FaultUnproven}) })
		return nil
	})
	if err != nil {
		return err
	}
	sessions, err := tx.Sessions()
	for i := range sessions {
		session := &sessions[i]
		digest := rules.Digest(session.ID)
		if !v.concerns(session.TaskID, digest) {
			continue
		}
		if v.sessions[digest] = session; session.Digest != digest {
			v.brokenRoot(session.ID, digest, "its digest is not that of its id")
		}
		v.claim(session.Position, func() { v.brokenRoot(session.ID, digest, "the ledger does not hold the entry that attests its root") })
		if !session.Finalized() {
			continue
		}
		v.out.Sessions++
		tree, _, err := treeOf(tx, session)
		if err != nil {
			return err
		}
		if fault := faultOf(tree, session); fault != "" {
			v.brokenRoot(session.ID, digest, fault)
		}
	}
	return err
}

// claim adds a position in the ledger. Two rows cannot have the same one.
func (v *verification) claim(at store.Position, unproven func()) {
	if at == (store.Position{}) {
		return
	}
	if other := v.claims[at]; other != nil {
		other()
	}
	v.claims[at] = unproven
}

// concerns reports whether a session has to be checked.
func (v *verification) concerns(task, digest string) bool {
	return v.task == "" || task == v.task || v.named[digest]
}

// other counts a fault of the whole database or ledger.
func (v *verification) other(fault string) {
	v.out.BrokenCount++
	if len(v.out.Other) < rules.MaxShown {
		v.out.Other = append(v.out.Other, fault)
	}
}

// brokenRoot counts a broken session, once.
func (v *verification) brokenRoot(id, digest, reason string) {
	if v.broken[digest] {
		return
	}
	v.broken[digest] = true
	if len(v.out.BrokenRoots) < rules.MaxShown {
		v.out.BrokenRoots = append(v.out.BrokenRoots, BrokenSession{id, reason})
	}
}

// ledger compares the database with the attestations of the ledger, in both directions, and returns the number of
// attestations of records.
func (v *verification) ledger(ctx context.Context, db *store.Store, h home, id string) (count int, err error) {
	report, err := ledgerverify.Dir(ctx, h.ledger, ledgerverify.Options{}) // removed entries attest nothing
	if err != nil {
		return 0, err
	}
	for _, damage := range report.Damage {
		v.other("the ledger is damaged: " + damage.String())
	}
	stores := stores{}
	err = attestations(ctx, h.ledger, func(a *rules.Attestation, at store.Position) error {
		stores.add(a)
		if a.Store == id && a.Thought != nil && (v.task == "" || a.Thought.TaskID == v.task) {
			count++
			v.compareRecord(a, at)
		}
		if a.Store == id && a.Session != nil && v.concerns(a.Session.TaskID, a.Session.Digest) {
			v.compareRoot(a, at)
		}
		return nil
	})
	if err != nil {
		return count, err
	}
	if gone := stores.missing(id, h.digest); gone != "" {
		v.other(errOtherStore(gone).Error())
	}
	for i := range report.Chains { // entries that retention removed are not missing
		chain := &report.Chains[i]
		maps.DeleteFunc(v.claims, func(at store.Position, _ func()) bool { return at.Chain == chain.Chain && at.Seq <= chain.Pruned })
	}
	for _, at := range slices.SortedFunc(maps.Keys(v.claims), byPosition) {
		v.claims[at]()
	}
	return count, db.View(ctx, v.lookUp)
}

func byPosition(a, b store.Position) int {
	return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
}

func (v *verification) compareRecord(a *rules.Attestation, at store.Position) {
	found, ok := v.records[a.Thought.Place]
	if !ok {
		v.later = append(v.later, a)
		return
	}
	v.chain.Attested(a.Thought, found.hash)
	if found.at == at { // a crash can cause two attestations of a record; the record has the position of one
		v.out.Attested++
		delete(v.claims, at)
	}
}

func (v *verification) compareRoot(a *rules.Attestation, at store.Position) {
	session := v.sessions[a.Session.Digest]
	if session == nil || !session.Finalized() {
		v.later = append(v.later, a)
		return
	}
	if session.Position == at {
		delete(v.claims, at)
	}
	v.checkRoot(a.Session, session)
}

func (v *verification) checkRoot(a *rules.SessionRoot, session *store.Session) {
	switch {
	case session.Root != a.Root || session.Records != a.Records || session.FinalizedAt != a.FinalizedAt:
		v.brokenRoot(session.ID, a.Digest, "the ledger attests another root")
	case session.Sum() != a.Sum:
		v.brokenRoot(session.ID, a.Digest, "the ledger attests other fields")
	}
}

// lookUp looks up the records and sessions that were missing when the ledger was read.
func (v *verification) lookUp(tx *store.Tx) error {
	for _, a := range v.later {
		if a.Thought != nil {
			hash, err := tx.HashAt(a.Thought.TaskID, a.Thought.Seq)
			if err != nil {
				return err
			}
			v.chain.Attested(a.Thought, hash)
			continue
		}
		session, err := tx.SessionByDigest(a.Session.Digest)
		switch {
		case errors.Is(err, store.ErrNotFound):
			v.brokenRoot(a.Session.ID, a.Session.Digest, "the ledger attests its root, and it was removed")
		case err != nil:
			return err
		default:
			v.checkRoot(a.Session, session)
		}
	}
	return nil
}

// attestations calls with for every attestation in a ledger.
func attestations(ctx context.Context, dir string, with func(a *rules.Attestation, at store.Position) error) error {
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	mark := []byte(`"` + rules.Key + `":`)
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Keep: func(l *ledger.Line) bool { return bytes.Contains(l.Raw(), mark) }}) {
		if err != nil {
			return err
		}
		record, err := line.Record()
		if err != nil {
			return err
		}
		a := rules.ReadAttestation(record.Data)
		if a == nil || record.Kind != ledger.KindSuccess { // attestations are of this kind
			continue
		}
		if err := with(a, store.Position{Chain: record.Chain, Seq: record.Seq}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Admin reads the state of a server for its operator. The server may be running. Admin changes nothing.
type Admin struct {
	store *store.Store
	home  home
}

// Errors of an [Admin].
var (
	ErrNoDatabase  = errors.New("no database in the folder; no server was started with it")
	ErrNoTask      = errors.New("no task has this id")
	ErrNoRecords   = errors.New("no thought records for the task")
	ErrBroken      = errors.New("the records do not verify")
	ErrNotAttested = errors.New("the ledger does not attest the last record of the task, or the root of the session")
	ErrNoSession   = errors.New("no audit session has this id")
	ErrSessionOpen = errors.New("the audit session is open and has no root")
)

// OpenAdmin opens the database in a state directory. The directory of the ledger may be "".
func OpenAdmin(ctx context.Context, state, trail string) (*Admin, error) {
	h := newHome(state, trail)
	if _, err := os.Stat(filepath.Join(state, store.FileName)); err != nil {
		if h.ledger != "" {
			all, err := readStores(ctx, h.ledger)
			if gone := all.missing("", h.digest); err == nil && gone != "" {
				return nil, errOtherStore(gone)
			}
		}
		return nil, ErrNoDatabase
	}
	db, err := store.OpenReadOnly(ctx, state)
	if err != nil {
		return nil, err
	}
	return &Admin{db, h}, nil
}

// Close closes the database.
func (a *Admin) Close() error { return a.store.Close() }

// Verify checks the thought records of all tasks, or of one, against their hashes and the ledger, and the roots of
// sessions.
func (a *Admin) Verify(ctx context.Context, task string) (*Verification, error) {
	return verify(ctx, a.store, a.home, task)
}

// FindTask returns the only task id that begins with typed.
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

// Sessions returns all audit sessions, the newest first. Those that are finalised have a root.
func (a *Admin) Sessions(ctx context.Context) ([]store.Session, error) {
	return store.Get(ctx, a.store, (*store.Tx).Sessions)
}

// Export returns the thought records of a task with the ledger's proof for the last of them. The error is
// [ledgerproof.ErrNotCovered] until a checkpoint covers that record, about a second after it was recorded. Records that
// do not verify are not exported.
func (a *Admin) Export(ctx context.Context, task string) (*rules.Export, error) {
	out := &rules.Thoughts{}
	var last store.Position
	err := a.store.View(ctx, func(tx *store.Tx) error {
		t, err := tx.Task(task)
		if err != nil {
			return err
		}
		out.Task = *t
		return tx.Chains(task, func(r *rules.Record, at store.Position) error {
			out.Records, last = append(out.Records, *r), at
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case len(out.Records) == 0:
		return nil, ErrNoRecords
	}
	return a.prove(ctx, task, last, &rules.Export{Thoughts: out})
}

// ExportSession returns a finalised session with its records and the ledger's proof for its root. Its errors are those of [Admin.Export].
func (a *Admin) ExportSession(ctx context.Context, id string) (*rules.Export, error) {
	out := &rules.SessionRecords{}
	var root store.Position
	err := a.store.View(ctx, func(tx *store.Tx) error {
		session, err := tx.Session(id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return ErrNoSession
		case err != nil:
			return err
		case !session.Finalized():
			return ErrSessionOpen
		}
		out.Session, root = session.Session, session.Position
		return tx.Thoughts(store.ThoughtFilter{SessionID: id}, func(_ int64, r *rules.Record) error {
			out.Records = append(out.Records, *r)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return a.prove(ctx, "", root, &rules.Export{Session: out})
}

// prove adds the ledger's proof to a file, after the database was verified, and checks it as a third party does.
func (a *Admin) prove(ctx context.Context, task string, at store.Position, out *rules.Export) (*rules.Export, error) {
	v, err := a.Verify(ctx, task)
	switch {
	case err != nil:
		return nil, err
	case !v.Valid:
		return nil, fmt.Errorf("%w: %s", ErrBroken, v.firstFault())
	case at.Chain == "" || a.home.ledger == "":
		return nil, ErrNotAttested
	}
	if out.Proof, err = ledgerproof.Make(ctx, a.home.ledger, ledger.Receipt{Chain: at.Chain, Seq: at.Seq}); err != nil {
		return nil, err
	}
	var entry struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(out.Entry), &entry); err != nil {
		return nil, err
	}
	return out, out.Check(entry.Data)
}

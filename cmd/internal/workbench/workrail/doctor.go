package workrail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/durable"
)

// FindingKind classifies a finding.
type FindingKind string

// The kinds of findings.
const (
	FindingSession          FindingKind = "session_damaged"
	FindingUnreadable       FindingKind = "session_unreadable"
	FindingPosition         FindingKind = "position_mismatch"
	FindingSnapshotMissing  FindingKind = "snapshot_missing"
	FindingSnapshotDamaged  FindingKind = "snapshot_damaged"
	FindingSnapshotReplaced FindingKind = "snapshot_replaced"
	FindingKeysDamaged      FindingKind = "keys_damaged"
	FindingKeysMissing      FindingKind = "keys_missing"
	FindingKeysExposed      FindingKind = "keys_exposed"
	FindingLeftover         FindingKind = "leftover"
	FindingUnattested       FindingKind = "unattested_segment"
)

// Finding is one defect of the state, or a leftover file.
type Finding struct {
	Kind     FindingKind     `json:"kind"`
	Sessions []string        `json:"sessionIds,omitempty"`
	Workflow string          `json:"workflowId,omitempty"`
	Health   *session.Health `json:"health,omitempty"`
	Message  string          `json:"message"`
	Repair   string          `json:"repair,omitempty"` // the action of [Admin.Repair]; empty if there is none
	Advice   string          `json:"advice,omitempty"` // advice for the operator
	Harmless bool            `json:"harmless,omitempty"`
	Repaired bool            `json:"repaired,omitempty"`

	hash     string
	source   *workflow.Workflow
	leftover session.Leftover
	file     string // a leftover among the stored workflows
}

// Diagnosis is the result of [Admin.Diagnose].
type Diagnosis struct {
	Sessions int       `json:"sessions"` // number of sessions read
	Healthy  int       `json:"healthy"`
	Findings []Finding `json:"findings"`
}

// leftoverAge is the age from which an unfinished file counts as left over. Creating a session takes milliseconds.
const leftoverAge = 10 * time.Minute

// Diagnose reads the named sessions, or all if ids is empty, and everything that they need. It changes nothing.
func (a *Admin) Diagnose(ctx context.Context, ids []string, progress Progress) (*Diagnosis, error) {
	d := &Diagnosis{Findings: []Finding{}}
	whole := len(ids) == 0
	if whole {
		var err error
		if ids, err = a.IDs(); err != nil {
			return nil, err
		}
	}
	using := map[string][]Info{} // sessions by the hash of their workflow
	for i, id := range ids {
		progress.at(i, len(ids))
		if err := a.examine(ctx, id, d, using); err != nil {
			return nil, err
		}
	}
	if err := a.examineSnapshots(ctx, d, using); err != nil {
		return nil, err
	}
	if whole {
		a.examineKeys(d)
	}
	return d, a.examineLeftovers(d, ids, whole)
}

// examine reads one session.
func (a *Admin) examine(ctx context.Context, id string, d *Diagnosis, using map[string][]Info) error {
	info, err := a.Session(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	d.Sessions++
	using[info.Hash] = append(using[info.Hash], info)
	health, err := a.s.sessions.Health(id)
	switch {
	case info.Problem != "" || err != nil:
		if info.Problem == "" {
			info.Problem = err.Error()
		}
		d.Findings = append(d.Findings, Finding{Kind: FindingUnreadable, Sessions: []string{id}, Workflow: info.Workflow,
			Message: "the session cannot be read: " + info.Problem, Advice: "check the disk and the permissions of the files"})
	case health.Kind != session.Healthy:
		d.Findings = append(d.Findings, Finding{Kind: FindingSession, Sessions: []string{id}, Workflow: info.Workflow, Health: &health,
			Message: fmt.Sprintf("%s, %s: %s; %s", health.Kind, health.Reason.Code, health.Reason.Message, soundEvents(health.Events)),
			Advice: fmt.Sprintf("events are never repaired: candor workbench workrail export %s --out FILE saves what is left, candor workbench workrail gc %s removes the session",
				id, id)})
	default:
		d.Healthy++
	}
	if health.Kind == session.Healthy && health.Unattested > 0 {
		d.Findings = append(d.Findings, Finding{Kind: FindingUnattested, Sessions: []string{id}, Workflow: info.Workflow, Harmless: true,
			Message: "a crash interrupted a step before it was recorded; the next step moves its file aside"})
	}
	return nil
}

// examineSnapshots checks the stored workflow of every session.
func (a *Admin) examineSnapshots(ctx context.Context, d *Diagnosis, using map[string][]Info) error {
	var sources map[string]*workflow.Workflow
	for _, hash := range sortedKeys(using) {
		if hash == "" { // the first event is damaged, so its workflow is unknown
			continue
		}
		w, err := a.s.snapshots.load(hash)
		if err == nil {
			if err := a.examinePositions(ctx, d, w, using[hash]); err != nil {
				return err
			}
			continue
		}
		if sources == nil {
			if sources, err = a.sources(ctx); err != nil {
				return err
			}
			_, err = a.s.snapshots.load(hash)
		}
		f := Finding{Kind: snapshotKind(err), Workflow: using[hash][0].Workflow, hash: hash, source: sources[hash],
			Message: fmt.Sprintf("%s (%s)", firstLine(err), hash[:min(len(hash), 12)])}
		for _, info := range using[hash] {
			f.Sessions = append(f.Sessions, info.ID)
		}
		if f.source != nil {
			f.Repair = "restore the stored workflow from the file with the same content"
		} else {
			f.Advice = "no workflow file has the content that these sessions were started with: put it back, and name its folder with --workflows"
		}
		d.Findings = append(d.Findings, f)
	}
	return nil
}

// examinePositions checks that the sessions of a workflow are at one of its steps. The digests only prove that the events were not altered.
func (a *Admin) examinePositions(ctx context.Context, d *Diagnosis, w *workflow.Workflow, sessions []Info) error {
	for i := range sessions {
		info := &sessions[i]
		if info.State == StateDamaged {
			continue // reported already
		}
		var wrong error
		err := a.s.sessions.View(ctx, info.ID, func(v *sessionState) error {
			wrong = v.fits(w)
			return nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || wrong == nil {
			continue // damaged or removed since it was examined
		}
		d.Findings = append(d.Findings, Finding{Kind: FindingPosition, Sessions: []string{info.ID}, Workflow: info.Workflow, Message: firstLine(wrong),
			Advice: fmt.Sprintf("the session cannot go on: candor workbench workrail export %s --out FILE saves it, start_workflow begins anew", info.ID)})
	}
	return nil
}

// fits returns an error if the session is not at a step of its workflow, or shows another step.
func (s *sessionState) fits(w *workflow.Workflow) error {
	next, err := viewOf(w, s.position, s.context)
	if err != nil {
		return err
	}
	var shown, want string
	if s.next != nil {
		shown = s.next.Path
	}
	if next != nil {
		want = next.Path
	}
	if shown != want {
		return fmt.Errorf("the session shows step %q, but is at step %q of the workflow", shown, want)
	}
	return nil
}

// firstLine returns the text of an error without the source lines that follow it.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func snapshotKind(err error) FindingKind {
	switch {
	case errors.Is(err, errSnapshotMissing):
		return FindingSnapshotMissing
	case errors.Is(err, errSnapshotOther):
		return FindingSnapshotReplaced
	default:
		return FindingSnapshotDamaged
	}
}

// sources returns the workflows that snapshots can be restored from, by hash.
func (a *Admin) sources(ctx context.Context) (map[string]*workflow.Workflow, error) {
	found := map[string]*workflow.Workflow{}
	for _, name := range workflow.Examples() {
		data, _ := workflow.Example(name)
		if w, err := workflow.Parse(name, data); err == nil {
			found[w.Hash()] = w
		}
	}
	if a.s.library.dir == "" {
		return found, nil
	}
	files, err := a.s.library.files(ctx)
	for _, f := range files {
		if f.workflow != nil {
			found[f.workflow.Hash()] = f.workflow
		}
	}
	return found, err
}

// examineKeys checks the file of the token keys.
func (a *Admin) examineKeys(d *Diagnosis) {
	const refused = "tokens that agents hold are refused then, and resume_session gives them new ones"
	_, err := a.Keys()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if d.Sessions > 0 {
			d.Findings = append(d.Findings, Finding{Kind: FindingKeysMissing, Message: "the keys of tokens are missing",
				Repair: "make new keys; " + refused})
		}
		return
	case err != nil:
		d.Findings = append(d.Findings, Finding{Kind: FindingKeysDamaged, Message: err.Error() + "; no server can start",
			Repair: "move the file aside and make new keys; " + refused})
		return
	}
	info, err := a.s.o.State.Root().Lstat(token.File)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		d.Findings = append(d.Findings, Finding{Kind: FindingKeysExposed,
			Message: fmt.Sprintf("%s can be read by others: its mode is %04o, not 0600", token.File, info.Mode().Perm()),
			Repair:  "set its mode to 0600", Advice: "candor workbench workrail rotate-keys replaces keys that others may have read"})
	}
}

func (a *Admin) examineLeftovers(d *Diagnosis, ids []string, whole bool) error {
	all, err := a.s.sessions.Leftovers(a.now().Add(-leftoverAge))
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, id := range ids {
		named[id] = true
	}
	for _, l := range all {
		if !whole && !named[l.Session] {
			continue
		}
		f := Finding{Kind: FindingLeftover, Message: fmt.Sprintf("sessions/%s (%s) was left behind by a crash", l.Name, l.Kind),
			Repair: "remove it", Harmless: true, leftover: l}
		if l.Session != "" {
			f.Sessions = []string{l.Session}
		}
		d.Findings = append(d.Findings, f)
	}
	if !whole {
		return nil
	}
	return a.examineTemporary(d)
}

// examineTemporary looks for workflows that were being stored when a server crashed.
func (a *Admin) examineTemporary(d *Diagnosis) error {
	entries, err := fs.ReadDir(a.s.snapshots.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".tmp") ||
			info.ModTime().After(a.now().Add(-leftoverAge)) {
			continue
		}
		d.Findings = append(d.Findings, Finding{Kind: FindingLeftover, file: e.Name(), Repair: "remove it", Harmless: true,
			Message: fmt.Sprintf("snapshots/%s (%s) was left behind by a crash", e.Name(), session.LeftoverFile)})
	}
	return nil
}

// Repair performs the action in f.Repair. It never changes the events of a session.
func (a *Admin) Repair(ctx context.Context, f *Finding) error {
	var err error
	switch f.Kind {
	case FindingSnapshotMissing, FindingSnapshotDamaged, FindingSnapshotReplaced:
		if f.source == nil {
			return nil
		}
		if info, statErr := a.s.snapshots.root.Lstat(snapshotName(f.hash)); statErr == nil && !info.Mode().IsRegular() {
			err = a.s.snapshots.root.RemoveAll(snapshotName(f.hash))
		}
		if err == nil {
			err = a.s.snapshots.keep(f.source)
		}
	case FindingKeysDamaged:
		if err = a.moveAside(token.File); err == nil {
			_, err = a.keyring()
		}
	case FindingKeysMissing:
		_, err = a.keyring()
	case FindingKeysExposed:
		err = a.s.o.State.Root().Chmod(token.File, 0o600)
	case FindingLeftover:
		if f.file != "" {
			err = a.s.snapshots.root.Remove(f.file)
			break
		}
		err = a.s.sessions.RemoveLeftover(ctx, f.leftover)
	case FindingSession, FindingUnreadable, FindingPosition, FindingUnattested:
		return nil
	}
	f.Repaired = err == nil
	return err
}

func (a *Admin) moveAside(name string) error {
	root := a.s.o.State.Root()
	err := root.Rename(name, name+".damaged-"+a.now().UTC().Format("20060102T150405.000000000"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(root, ".")
}

package kaiza

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// change is a set of files that is changed atomically.
type change struct {
	plan   string // its hash; "" if a plan is not needed
	files  []workspace.Change
	checks []preflight.Command // to run after it
	report bool                // unlocks the session
}

// note is the data in a journal for the server that recovers it.
type note struct {
	Tool string `json:"tool"`
	Plan string `json:"plan,omitempty"`
	// Undoes is the change that this one undoes; By is the person behind the undo.
	Undoes string `json:"undoes,omitempty"`
	By     string `json:"by,omitempty"`
}

// ChangedFile is one file of a change, in the trail and in replies.
type ChangedFile struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"` // hash
	After  string `json:"after,omitempty"`
	Bytes  int    `json:"bytes"`

	BytesBefore int64 `json:"bytes_before,omitempty"`
}

func changed(files []workspace.Change) []ChangedFile {
	out := make([]ChangedFile, 0, len(files))
	for _, f := range files {
		t := ChangedFile{Path: f.Path.String()}
		if f.Before != nil {
			t.Before, t.BytesBefore = f.Before.Hash, f.Before.Size
		}
		if !f.Delete {
			t.After, t.Bytes = workspace.Hash(f.After), len(f.After)
		}
		out = append(out, t)
	}
	return out
}

// apply makes a change: authorise, reserve, journal, commit, run checks, complete. It holds the lock of the workspace
// throughout, so that the approval cannot be revoked in the meantime. If its end cannot be recorded, the change is undone.
// Once it is recorded as complete, later errors do not fail the call.
func (k *System) apply(ctx context.Context, c *workbench.Call, d *openWorkspace, ch *change) error {
	lock, err := workspace.Lock(ctx, d.state, k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // closing releases the lock
	if l := d.locked(); l != nil && !ch.report {
		return lockedError(l) // by a concurrent call
	}
	if err := k.recoverFirst(ctx, c.Bench(), d); err != nil {
		return err
	}
	if err := k.authorise(d, ch); err != nil {
		return err
	}
	effect, err := c.Reserve(ctx, ch.plan, map[string]any{"files": changed(ch.files)})
	if err != nil {
		return err
	}
	staged, err := k.commit(ctx, c, d, ch, lock)
	if err != nil {
		return k.abort(ctx, c, effect, err)
	}
	record := func() error { return effect.Complete(ctx, nil, map[string]any{"files": changed(ch.files)}) }
	if err := k.complete(c.Bench(), staged, record, staged.Archive); err != nil {
		return err
	}
	if !ch.report {
		return nil
	}
	if err := d.unlock(); err != nil { // the session remains locked, and the reply shows it
		c.Bench().Logger().Error("removing the lock after a report", slog.Any("error", err))
	}
	return nil
}

// complete records that a change was made and calls end, which removes its journal. If its end cannot be
// recorded, the change is undone. Without a trail, the presence of the journal marks the change as incomplete, so the change is also
// undone if its journal cannot be removed.
func (k *System) complete(b recorder, staged *workspace.Staged, record, end func() error) error {
	if err := record(); err != nil {
		return k.undo(staged, false, err)
	}
	err := end()
	if err != nil && b.Ledger() == "" && errors.Is(err, workspace.ErrJournalLeft) {
		return k.undo(staged, false, candor.New(kaizacode.FileWriteFailed, "The journal of the change could not be removed; the change was undone.", candor.WithCause(err)))
	}
	if err != nil {
		b.Logger().Warn("removing the journal of a completed change; will retry before the next change", slog.Any("error", err))
	}
	return nil
}

// commit writes the files and runs the checks. If it fails, the files are as before. The checks inherit the lock: if
// this process is killed, other processes cannot recover the files while a check may still write.
func (k *System) commit(ctx context.Context, c *workbench.Call, d *openWorkspace, ch *change, lock *os.File) (*workspace.Staged, error) {
	staged, err := k.stage(ctx, d, c.ID, ch.files, note{Tool: c.Name, Plan: ch.plan})
	if err != nil {
		return nil, err
	}
	checking := k.o.Preflight
	checking.Hold = []*os.File{lock}
	if _, err := preflight.Run(ctx, d.folder.Root(), ch.checks, checking); err != nil {
		return nil, k.undo(staged, true, err) // the check may have rewritten the files
	}
	if err := k.adoptChecked(staged, ch); err != nil {
		return nil, k.undo(staged, true, err)
	}
	return staged, nil
}

// adoptChecked updates the change with the contents after the checks, since a check may format files. The trail and the
// reply must match the disk, and the policy applies to the result too, because a check may run code that an agent wrote.
func (k *System) adoptChecked(staged *workspace.Staged, ch *change) error {
	if len(ch.checks) == 0 {
		return nil
	}
	found, err := staged.Adopt()
	if code := candor.CodeOf(err); code == kaizacode.PathNotFound || code == kaizacode.FileNotFound {
		checks := strings.Join(ch.checkNames(), ", ")
		return candor.New(kaizacode.PreflightFailed, "The checks removed a folder of the change; they were "+checks+".", candor.WithCause(err),
			candor.WithDetails(map[string]any{"checks": checks}), candor.WithSuggestion("Ask the operator to look at these checks: one of them removes files."))
	}
	if err != nil {
		return err
	}
	for i := range ch.files {
		f := &ch.files[i]
		if f.Delete != (found[i] == nil) {
			return candor.New(kaizacode.PreflightFailed, "The checks created or removed a file of the change.",
				candor.WithDetails(map[string]any{"file": f.Path.String()}))
		}
		if f.Delete || bytes.Equal(f.After, found[i]) {
			continue
		}
		f.After = found[i]
		if err := k.checkPolicy(f); err != nil {
			return err
		}
	}
	return nil
}

// checkNames returns the names of the checks that follow the change.
func (ch *change) checkNames() []string {
	names := make([]string, 0, len(ch.checks))
	for _, check := range ch.checks {
		names = append(names, check.Name)
	}
	return names
}

// undo restores the files because of err and returns err if that works.
func (k *System) undo(staged *workspace.Staged, force bool, err error) error {
	failed := staged.Undo(force)
	if failed != nil {
		failed = staged.Undo(force) // retry once: it continues where it stopped
	}
	if failed != nil {
		return notUndone(err, failed)
	}
	return errors.Join(err, staged.Done())
}

const (
	invariantUndone = "INV_CHANGE_UNDONE"
	effectUnknown   = "unknown" // in details.effect: the call may have changed something
)

// notUndone returns the error of a change that had to be undone because of err and could not be. Its journal is kept;
// the next change or start tries again.
func notUndone(err, failed error) error {
	return workspace.InvariantViolation(invariantUndone, "A change had to be undone, and could not be: its files may be changed, all or some of them.",
		candor.WithCause(errors.Join(err, failed)), candor.WithDetails(map[string]any{"undo_for": candor.CodeOf(err).Symbol(), "effect": effectUnknown}),
		candor.WithSuggestion("Stop and report the reference to the operator. The server tries to undo the change before the next one; check the files before you continue."))
}

// isNotUndone reports whether err is from notUndone.
func isNotUndone(err error) bool {
	e, ok := errors.AsType[*candor.Error](err)
	return ok && e.CallInfo().InvariantID == invariantUndone
}

// abort records that a change failed and returns the error. If that cannot be recorded, the reservation remains open,
// which has the same meaning. It also remains open for a change that could not be undone, until its recovery.
func (k *System) abort(ctx context.Context, c *workbench.Call, effect *workbench.Effect, failed error) error {
	if isNotUndone(failed) {
		return failed
	}
	if err := effect.Complete(ctx, failed, map[string]any{"undone": true}); err != nil {
		c.Bench().Logger().Warn("recording a failed change", slog.Any("error", err))
	}
	return failed
}

// authorise checks a change against the plan and the policy, and selects the checks to run after it.
func (k *System) authorise(d *openWorkspace, ch *change) error {
	if ch.report { // it may quote refused content
		return visible(&ch.files[0])
	}
	approved, err := d.plans.Load(ch.plan)
	if err != nil {
		return err
	}
	paths := make([]string, 0, len(ch.files))
	for i := range ch.files {
		f := &ch.files[i]
		if err := visible(f); err != nil {
			return err
		}
		if err := approved.Enforce(f.Path.String()); err != nil {
			return err
		}
		paths = append(paths, f.Path.String())
	}
	for i := range ch.files {
		if err := k.checkPolicy(&ch.files[i]); err != nil {
			return err
		}
	}
	ch.checks = k.o.Policy.Preflight(paths...)
	return nil
}

// visible refuses a new name with an invisible character, which would look like another name.
func visible(f *workspace.Change) error {
	name := f.Path.String()
	at := strings.IndexFunc(name, plan.Hidden)
	if at < 0 || f.Before != nil {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(name[at:])
	return candor.New(kaizacode.InvalidPath, fmt.Sprintf("The new name %q holds the character U+%04X, which is invisible.", name, r),
		candor.WithDetails(map[string]any{"path": name, "character": fmt.Sprintf("U+%04X", r)}),
		candor.WithSuggestion("Choose a name of letters, digits, signs and plain spaces."))
}

// checkPolicy checks the content that a change adds to a file against the policy.
func (k *System) checkPolicy(f *workspace.Change) error {
	if f.Delete {
		return nil
	}
	var before []byte
	if f.Before != nil {
		before = f.Before.Content
	}
	return k.o.Policy.Check(f.Path.String(), before, f.After)
}

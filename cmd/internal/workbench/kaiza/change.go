package kaiza

import (
	"bytes"
	"context"
	"encoding/json"
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

// change is a set of files that change together or not at all, with what has to be known about it.
type change struct {
	plan   string // its hash; "" for what needs no plan
	files  []workspace.Change
	checks []preflight.Command // that follow it
	report bool                // it lifts the lock
}

// note is what the journal keeps for a server that finds it after a crash.
type note struct {
	Tool string `json:"tool"`
	Plan string `json:"plan,omitempty"`
	// Undoes is the change that this one puts back, and By the person who had it put back.
	Undoes string `json:"undoes,omitempty"`
	By     string `json:"by,omitempty"`
}

// ChangedFile is one file of a change, as the trail and the caller learn of it.
type ChangedFile struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"` // hash
	After  string `json:"after,omitempty"`
	Bytes  int    `json:"bytes"`

	BytesBefore int    `json:"bytes_before,omitempty"`
	Mode        string `json:"mode,omitempty"`   // permission bits, where the change sets them
	Folder      string `json:"folder,omitempty"` // "made" or "removed"
}

func (ch *change) told() []ChangedFile { return changed(ch.files) }

func changed(files []workspace.Change) []ChangedFile {
	out := make([]ChangedFile, 0, len(files))
	for _, f := range files {
		t := ChangedFile{Path: f.Path.String()}
		switch {
		case f.Folder && f.Delete:
			t.Folder = "removed"
		case f.Folder:
			t.Folder = "made"
		}
		if f.Before != nil {
			t.Before, t.BytesBefore = f.Before.Hash, len(f.Before.Content)
		}
		if !f.Delete && !f.Folder {
			t.After, t.Bytes = workspace.Hash(f.After), len(f.After)
		}
		if f.Mode != nil && !f.Delete {
			t.Mode = fmt.Sprintf("%04o", f.Mode.Perm())
		}
		out = append(out, t)
	}
	return out
}

// make makes a change: clear, judge, reserve, journal, commit, check, complete. It holds the lock of the workspace from the judgement on, so
// that no approval is taken back in between. What cannot be completed in the trail is undone. Once it is completed there the change stands, and
// nothing that fails afterwards is an error of it.
func (k *System) make(ctx context.Context, c *workbench.Call, d *desk, ch *change) error {
	lock, err := workspace.LockFile(ctx, d.state, k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the system takes it back anyway
	if l := d.locked(); l != nil && !ch.report {
		return lockedError(l) // by a call that ran beside this one
	}
	if err := k.clear(ctx, c.Bench(), d); err != nil {
		return err
	}
	if err := k.judge(d, ch); err != nil {
		return err
	}
	effect, err := c.Reserve(ctx, ch.plan, map[string]any{"files": ch.told()})
	if err != nil {
		return err
	}
	staged, err := k.commit(ctx, c, d, ch, lock)
	if err != nil {
		k.releaseUse(c.Bench(), d.folder.Root(), ch.plan, c.ID, err)
		return errors.Join(err, k.close(ctx, c, effect, err))
	}
	if err := k.complete(ctx, c, effect, staged, staged.Archive, map[string]any{"files": ch.told()}); err != nil {
		k.releaseUse(c.Bench(), d.folder.Root(), ch.plan, c.ID, err)
		return err
	}
	if ch.report {
		k.lift(c, d)
	}
	return nil
}

// complete records that a change was made, and ends it by end, which takes its journal away. A change whose end cannot be recorded is undone.
// Without a trail the journal is all that says whether the change stands, so that one that cannot be taken away undoes it, too.
func (k *System) complete(ctx context.Context, c *workbench.Call, effect *workbench.Effect, staged *workspace.Staged, end func() error, about map[string]any) error {
	if err := effect.Complete(ctx, nil, about); err != nil {
		return k.undo(staged, err)
	}
	err := end()
	if err != nil && c.Bench().Ledger() == "" && errors.Is(err, workspace.ErrJournalLeft) {
		return k.undo(staged, candor.New(kaizacode.FileWriteFailed, "The journal of the change could not be removed; the change was undone.", candor.WithCause(err)))
	}
	if err != nil {
		c.Bench().Logger().Warn("the journal of a change that was made could not be removed; that is tried again before the next change", slog.Any("error", err))
	}
	return nil
}

// lift unlocks the session after its report. Where the file of a lock cannot be removed the session stays locked, and its status says so.
func (k *System) lift(c *workbench.Call, d *desk) {
	if err := d.unlock(c.Session.ID); err != nil {
		c.Bench().Logger().Error("a report was written, and the lock could not be removed", slog.Any("error", err))
	}
}

// commit writes the files and runs the checks. If anything fails the files are as they were. The checks keep the lock: if we are killed,
// nobody puts the files right while one of them may still write.
func (k *System) commit(ctx context.Context, c *workbench.Call, d *desk, ch *change, lock *os.File) (*workspace.Staged, error) {
	about, err := json.Marshal(note{Tool: c.Name, Plan: ch.plan})
	if err != nil {
		return nil, err
	}
	staged, err := d.folder.Stage(d.state, c.ID, ch.files, about)
	if err != nil {
		return nil, err
	}
	if err := k.countUse(d.folder.Root(), ch.plan, c.ID); err != nil {
		return nil, errors.Join(err, staged.Done())
	}
	if err := staged.Commit(ctx); err != nil {
		if staged.Stuck() {
			return nil, notUndone(err, nil)
		}
		return nil, errors.Join(err, staged.Done())
	}
	checking := k.o.Preflight
	checking.Hold = []*os.File{lock}
	if _, err := preflight.Run(ctx, d.folder.Root(), ch.checks, checking); err != nil {
		if _, failed := staged.Adopt(); failed != nil { // it may have rewritten what it looked at
			_, _ = staged.Adopt() // where it cannot be seen the second time either, undoing says so
		}
		return nil, k.undo(staged, err)
	}
	if err := k.settle(staged, ch); err != nil {
		return nil, k.undo(staged, err)
	}
	return staged, nil
}

// settle looks at what the checks have left: one may format what was written. What is recorded and answered must be what is there, and the
// policy holds for it too, because a check runs what an agent wrote.
func (k *System) settle(staged *workspace.Staged, ch *change) error {
	if len(ch.checks) == 0 {
		return nil
	}
	found, err := staged.Adopt()
	if code := candor.CodeOf(err); code == kaizacode.PathNotFound || code == kaizacode.FileNotFound {
		return candor.New(kaizacode.PreflightFailed, "The checks have removed a folder of the change; they were "+ch.checkNames()+".", candor.WithCause(err),
			candor.WithDetails(map[string]any{"checks": ch.checkNames()}), candor.WithSuggestion("Have the operator look at these checks: one removes what it should only look at."))
	}
	if err != nil {
		return err
	}
	for i := range ch.files {
		f := &ch.files[i]
		if f.Folder {
			continue
		}
		if f.Delete != (found[i] == nil) {
			return candor.New(kaizacode.PreflightFailed, "The checks have made or removed a file of the change.",
				candor.WithDetails(map[string]any{"file": f.Path.String()}))
		}
		if f.Delete || bytes.Equal(f.After, found[i]) {
			continue
		}
		f.After = found[i]
		if err := k.allowed(f); err != nil {
			return err
		}
	}
	return nil
}

// checkNames lists the checks that follow the change.
func (ch *change) checkNames() string {
	names := make([]string, 0, len(ch.checks))
	for _, check := range ch.checks {
		names = append(names, check.Name)
	}
	return strings.Join(names, ", ")
}

// undo puts the files back because of err, which is the caller's answer if that works.
func (k *System) undo(staged *workspace.Staged, err error) error {
	failed := staged.Undo()
	if failed != nil {
		failed = staged.Undo() // once more: it may have been a passing fault, and goes on where it stopped
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

// notUndone is the answer where a change had to be undone because of err and could not be. Its journal stays, and the next change or the
// next start tries again.
func notUndone(err, failed error) error {
	return candor.InvariantViolation(invariantUndone, "A change had to be undone, and could not be: its files may be changed, all or some of them.",
		candor.WithCause(errors.Join(err, failed)), candor.WithDetails(map[string]any{"undo_for": candor.CodeOf(err).Symbol(), "effect": effectUnknown}),
		candor.WithSuggestion("Stop and tell the operator, with the reference. The server tries to undo the change before the next one; look at the files before you go on."))
}

// isNotUndone reports the error of [notUndone].
func isNotUndone(err error) bool {
	e, ok := errors.AsType[*candor.Error](err)
	return ok && e.CallInfo().InvariantID == invariantUndone
}

// close records that a change came to nothing. If even that cannot be recorded the reservation stays open, which says the same. It stays open,
// too, for a change that could not be undone: how that ends is recorded when it ends.
func (k *System) close(ctx context.Context, c *workbench.Call, effect *workbench.Effect, failed error) error {
	if isNotUndone(failed) {
		return nil
	}
	if err := effect.Complete(ctx, failed, map[string]any{"undone": true}); err != nil {
		c.Bench().Logger().Warn("that a change came to nothing could not be recorded", slog.Any("error", err))
	}
	return nil
}

// judge holds a change against the plan and the policy, and finds the checks that follow it.
func (k *System) judge(d *desk, ch *change) error {
	paths := make([]string, 0, len(ch.files))
	for _, f := range ch.files {
		name := f.Path.String()
		paths = append(paths, name)
		if err := seen(d.folder, &f); err != nil {
			return err
		}
		if ch.report {
			continue
		}
		if err := d.plans.Enforce(ch.plan, d.judged(name)); err != nil {
			return err
		}
	}
	if ch.report {
		return nil // a report may quote what was refused
	}
	for i := range ch.files {
		if err := k.allowed(&ch.files[i]); err != nil {
			return err
		}
	}
	ch.checks = k.o.Policy.Preflight(paths...)
	return nil
}

// seen refuses a new name that holds a character which a person cannot see: on a screen it would pass for another. A name that is there
// already may be used, so that it can be replaced or moved away.
func seen(folder *workspace.Folder, f *workspace.Change) error {
	if f.Before != nil || f.Delete {
		return nil
	}
	segments := strings.Split(f.Path.String(), "/")
	for i, segment := range segments {
		at := strings.IndexFunc(segment, plan.Hidden)
		if at < 0 {
			continue
		}
		if on, err := folder.Parse(strings.Join(segments[:i+1], "/")); err == nil && i < len(segments)-1 && folder.IsFolder(on) {
			continue
		}
		r, _ := utf8.DecodeRuneInString(segment[at:])
		return candor.New(kaizacode.InvalidPath, fmt.Sprintf("The new name %q holds the character U+%04X, which is not seen.", f.Path.String(), r),
			candor.WithDetails(map[string]any{"path": f.Path.String(), "character": fmt.Sprintf("U+%04X", r)}),
			candor.WithSuggestion("Choose a name of letters, digits, signs and plain spaces."))
	}
	return nil
}

// allowed holds what a file gains against the policy.
func (k *System) allowed(f *workspace.Change) error {
	if f.Delete || f.Folder {
		return nil
	}
	var before []byte
	if f.Before != nil {
		before = f.Before.Content
	}
	return k.o.Policy.Check(f.Path.String(), before, f.After)
}

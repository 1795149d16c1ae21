package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Staged is a set of changes that has been checked, backed up and written to the journal. It must not be used by several
// goroutines at once.
//
// The sequence of calls is [Folder.Stage], [Staged.Commit], optionally [Staged.Undo], and then
// [Staged.Done] or [Staged.Archive].
type Staged struct {
	folder  *Folder
	vault   vault
	journal Journal
	files   []content // those of the journal
	started bool
	crashed bool // it is recovered from its journal
	stuck   bool // an undo failed; the backups are kept
}

// content is the content of a file before and after its change. It is not in memory during a recovery.
type content struct {
	before, after []byte
	dir           *os.Root // folder of the file during Commit, which stays the same if it is renamed
	touched       bool     // Commit began to replace the file
}

// Stuck reports whether undoing the change failed for some file. Its journal is kept, and [Recover] tries again.
func (s *Staged) Stuck() bool { return s.stuck }

// Commit applies all changes or none. It first writes everything that needs space to temporary files beside the targets.
// It then renames them one by one, each after a last check of the old content. If one fails, Commit undoes those before
// it and returns the error: HASH_MISMATCH if another process has changed a file, FILE_WRITE_FAILED for an error of the
// system, or INVARIANT_VIOLATION with INV_WRITE_READS_BACK if a file does not contain the content that was written.
//
// After a crash during Commit, [Recover] restores either the old or the new state.
func (s *Staged) Commit(ctx context.Context) error {
	if s.started {
		return candor.New(kaiza.InternalError, "The change was already committed.")
	}
	s.started = true
	defer s.release()
	err := s.commit(ctx)
	if err == nil {
		return nil
	}
	if undo := s.takeBack(false).error(); undo != nil {
		s.stuck = true
		e := candor.From(err)
		return e.With(candor.WithDetails(e.Details().With("not_undone", candor.From(undo).Message())))
	}
	return coded(err)
}

func (s *Staged) commit(ctx context.Context) error {
	if err := s.folder.makeFolders(s.journal.Folders); err != nil {
		return err
	}
	for _, step := range []func(*JournalFile, *content) error{s.prepare, s.replace} {
		for i := range s.files {
			if err := ctx.Err(); err != nil {
				return candor.From(err)
			}
			if err := step(&s.journal.Files[i], &s.files[i]); err != nil {
				return writeFault(s.folder, Path{s.journal.Files[i].Path}, err)
			}
		}
	}
	return nil
}

// prepare opens the folder of a file and writes the new content to a temporary file there.
func (s *Staged) prepare(e *JournalFile, c *content) (err error) {
	if c.dir, err = s.folder.walk(Path{e.Path}.parent()); err != nil || e.After == "" {
		return err
	}
	defer s.folder.testHook("prepared")
	return s.folder.writeTemp(c.dir, e, c.after, e.Before == "")
}

// replace gives a file its new content if it still has the old one. All checks and renames use one open folder, which
// must be the one that the path refers to, before and after. An edit by another process between the last check and the
// rename is lost.
func (s *Staged) replace(e *JournalFile, c *content) error {
	f, p := s.folder, Path{e.Path}
	if err := is(c.dir, p, e.Before); err != nil {
		return err
	}
	f.testHook("checked")
	if err := f.inPlace(c.dir, p.parent()); err != nil {
		return err
	}
	f.testHook("in place")
	c.touched = true
	if err := rename(c.dir, p, e, e.After); err != nil {
		return err
	}
	f.testHook("renamed")
	if err := errors.Join(f.inPlace(c.dir, p.parent()), syncFolder(c.dir)); err != nil {
		return err
	}
	if err := is(c.dir, p, e.After); err != nil {
		return InvariantViolation("INV_WRITE_READS_BACK", fmt.Sprintf("%q does not hold what was written to it.", e.Path),
			candor.WithCause(err), candor.WithDetails(map[string]any{"path": e.Path}))
	}
	f.testHook("replaced")
	return nil
}

// rename gives a file the content of its temporary file, or removes it if the hash of the content is "".
func rename(dir *os.Root, p Path, e *JournalFile, hash string) error {
	if hash == "" {
		return dir.Remove(p.base())
	}
	return dir.Rename(e.Temp, p.base())
}

// writeTemp writes a temporary file durably. It gets the owner and the mode of the file that it is to replace.
func (f *Folder) writeTemp(dir *os.Root, e *JournalFile, data []byte, fresh bool) error {
	file, err := dir.OpenFile(e.Temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.Mode.Perm())
	if err != nil {
		return err
	}
	f.testHook("made a temporary file")
	_, err = file.Write(data)
	if !fresh { // a new file has the default
		if now, err := dir.Lstat(Path{e.Path}.base()); err == nil {
			chown(file, now) // best effort: only root can set another owner
		}
		err = errors.Join(err, file.Chmod(e.Mode.Perm()))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// Undo reverts Commit: it restores old contents, modes and deleted files, and removes new files and folders. It does not
// touch a file that was changed after Commit; it then returns HASH_MISMATCH, after reverting all other files. Undo may
// be called again. With force it replaces files regardless of their present content.
func (s *Staged) Undo(force bool) error {
	err := s.takeBack(force).error()
	s.stuck = err != nil
	return err
}

// takenBack is the result of an undo.
type takenBack struct {
	restored int      // files that were restored; others had the old content already
	unknown  []string // files in another state, or without a valid backup; they were not touched
	faults   []error
}

func (t takenBack) error() error {
	faults := slices.Clone(t.faults)
	for _, name := range t.unknown {
		faults = append(faults, changedMeanwhile(Path{name}))
	}
	return coded(errors.Join(faults...))
}

// takeBack restores the old content of every file, in reverse order, and continues after errors.
func (s *Staged) takeBack(force bool) (t takenBack) {
	for i := range slices.Backward(s.journal.Files) {
		done, err := s.putBack(i, force)
		switch {
		case errors.Is(err, errUnknown):
			t.unknown = append(t.unknown, s.journal.Files[i].Path)
		case err != nil:
			t.faults = append(t.faults, writeFault(s.folder, Path{s.journal.Files[i].Path}, err))
		case done:
			t.restored++
			s.folder.testHook("put back")
		}
		if err == nil {
			s.files[i].touched = false
		}
	}
	s.folder.removeFolders(s.journal.Folders)
	return t
}

var errUnknown = errors.New("the file is not as it was before or after the change, or its backup is damaged")

// putBack restores the old content of one file and reports whether it had another one.
func (s *Staged) putBack(i int, force bool) (restored bool, err error) {
	e, p, held := &s.journal.Files[i], Path{s.journal.Files[i].Path}, s.files[i].dir
	if !s.files[i].touched {
		if held != nil {
			_ = held.Remove(e.Temp)
		}
		return false, nil
	}
	dir, err := s.openFolder(i, force && e.Before != "")
	if e.Before == "" && candor.CodeOf(err) == kaiza.PathNotFound && (force || s.crashed) {
		return false, nil // without the folder the file does not exist; here it may have been moved away with the file
	}
	if err != nil {
		return false, errors.Join(errUnknown, err)
	}
	if held == nil {
		defer dir.Close() //nolint:errcheck // opened for reading
	}
	if dir.Remove(e.Temp) == nil { // an unguessable name, so it is not another file
		_ = syncFolder(dir)
	}
	switch now, err := hashIn(dir, p.base()); {
	case err == nil && now == e.Before:
		return false, nil
	case !force && (err != nil || now != e.After):
		return false, errors.Join(errUnknown, err)
	}
	if err = s.overwrite(dir, i, force); err != nil {
		_ = dir.Remove(e.Temp)
		if now, other := hashIn(dir, p.base()); other == nil && now == e.Before { // it failed after the rename
			err = nil
		}
	}
	return err == nil, err
}

// overwrite replaces a file by its old content. It does not write through a link, and removes a folder only if it is
// empty.
func (s *Staged) overwrite(dir *os.Root, i int, force bool) error {
	e, p := &s.journal.Files[i], Path{s.journal.Files[i].Path}
	old := s.files[i].before
	if s.crashed && e.Before != "" {
		var err error
		if old, err = s.vault.backup(i, e.Before); err != nil {
			return errors.Join(errUnknown, err)
		}
	}
	if e.Before != "" {
		if err := s.folder.writeTemp(dir, e, old, false); err != nil {
			return err
		}
	}
	if s.files[i].dir == nil {
		if err := s.folder.inPlace(dir, p.parent()); err != nil {
			return err
		}
	}
	if info, err := dir.Lstat(p.base()); force && err == nil && info.IsDir() {
		if err := dir.Remove(p.base()); err != nil {
			return fault(kaiza.FileWriteFailed, p, "is a folder by now that is not empty, and a file cannot be put back there.", err)
		}
	} else if !force && e.Before != "" {
		if err := is(dir, p, e.After); err != nil {
			return err
		}
	}
	s.folder.testHook("checked")
	err := rename(dir, p, e, e.Before)
	s.folder.testHook("renamed")
	if e.Before == "" && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, syncFolder(dir))
}

// openFolder returns the folder of a file, and creates missing folders on request.
func (s *Staged) openFolder(i int, create bool) (*os.Root, error) {
	if s.files[i].dir != nil {
		return s.files[i].dir, nil
	}
	parent := Path{s.journal.Files[i].Path}.parent()
	dir, err := s.folder.walk(parent)
	if create && candor.CodeOf(err) == kaiza.PathNotFound {
		if err := s.folder.makeFolders(missingFolders(s.folder, parent)); err != nil {
			return nil, err
		}
		return s.folder.walk(parent)
	}
	return dir, err
}

// release closes the folders that prepare opened.
func (s *Staged) release() {
	for i := range s.files {
		if s.files[i].dir != nil {
			_ = s.files[i].dir.Close()
			s.files[i].dir = nil
		}
	}
}

// Adopt treats the current content of the files as the result of Commit and returns it in the order of the changes; nil
// means that the file does not exist. It is for files that are modified on purpose after Commit; Undo then accepts the
// modified content.
func (s *Staged) Adopt() ([][]byte, error) {
	found := make([][]byte, len(s.files))
	for i := range s.files {
		e := &s.journal.Files[i]
		dir, err := s.folder.walk(Path{e.Path}.parent())
		if err != nil {
			return nil, err
		}
		file, err := s.folder.readPlain(dir, Path{e.Path}, Path{e.Path}.base())
		_ = dir.Close()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.After, e.SizeAfter = "", 0
		case err != nil:
			return nil, s.folder.access(Path{e.Path}, err, kaiza.FileReadFailed)
		default:
			e.After, e.SizeAfter, found[i] = file.Hash, len(file.Content), append([]byte{}, file.Content...)
		}
	}
	if err := s.vault.note(s.journal); err != nil { // for a later undo, and after a crash
		return nil, stateFault(err)
	}
	return found, nil
}

// ErrJournalLeft is the error of [Staged.Done] and [Staged.Archive] if the journal still exists, so that [Recover] will
// find it.
var ErrJournalLeft = errors.New("the journal could not be removed")

// Done ends the change: it removes journal and backups, and [Recover] no longer finds it. If Undo failed, Done keeps
// them, because they are the only copy of the content that could not be restored.
func (s *Staged) Done() error {
	if s.stuck {
		return ErrJournalLeft
	}
	return s.vault.remove()
}

// Archive ends a change like [Staged.Done], but keeps its old contents for [Folder.Reverse]. Beyond [MaxHistory] changes
// or [MaxHistoryBytes] it removes the oldest.
func (s *Staged) Archive() error { return s.vault.archive(s.journal) }

const tempPrefix = ".candor-"

// newTempName returns an unguessable name, so that an attacker cannot create a link with it.
func newTempName() string { return tempPrefix + strings.ToLower(rand.Text()) + ".tmp" }

func isTempName(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, ".tmp") && !strings.ContainsAny(name, "/\\") && len(name) <= 64
}

// is checks that a file in dir, the folder of p, has the content with a hash; "" means that it must not exist.
func is(dir *os.Root, p Path, hash string) error {
	now, err := hashIn(dir, p.base())
	switch {
	case err != nil:
		return err
	case now == "" && hash != "":
		return fault(kaiza.FileNotFound, p, "does not exist any more.", nil)
	case hash == "" && now != "":
		return fault(kaiza.FileAlreadyExists, p, "exists already.", nil)
	case now != hash:
		return changedMeanwhile(p)
	}
	return nil
}

// hashIn returns the hash of a file, or "" if it does not exist. The file may have several hard links.
func hashIn(dir *os.Root, name string) (string, error) {
	file, _, err := folder.OpenPlain(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	content, err := io.ReadAll(io.LimitReader(file, maxChangeBytes+1))
	return Hash(content), err
}

// inPlace checks that a path still refers to an open folder.
func (f *Folder) inPlace(dir *os.Root, p Path) error {
	again, err := f.walk(p)
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // opened for reading
	held, errHeld := dir.Stat(".")
	there, errThere := again.Stat(".")
	if err := errors.Join(errHeld, errThere); err != nil || !os.SameFile(held, there) {
		return fault(kaiza.FileWriteFailed, p, "was moved while it was being changed.", err)
	}
	return nil
}

// missingFolders returns the folders of a path that do not exist, outermost first.
func missingFolders(f *Folder, p Path) (missing []string) {
	for at := p; !at.IsRoot(); at = at.parent() {
		if _, err := f.root.Lstat(at.name); err == nil {
			break
		}
		missing = append(missing, at.name)
	}
	slices.Reverse(missing)
	return missing
}

// makeFolders creates folders in the given order. One that another process has created in the meantime is used.
func (f *Folder) makeFolders(names []string) error {
	for _, name := range names {
		p := Path{name}
		dir, err := f.walk(p.parent())
		if err != nil {
			return err
		}
		err = dir.Mkdir(p.base(), 0o755)
		if err == nil {
			err = syncFolder(dir)
		}
		_ = dir.Close()
		f.testHook("made a folder")
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return writeFault(f, p, err)
		}
	}
	return nil
}

// removeFolders removes the folders that a change created, innermost first, if they are empty.
func (f *Folder) removeFolders(names []string) {
	for _, name := range slices.Backward(names) {
		p := Path{name}
		dir, err := f.walk(p.parent())
		if err != nil {
			continue
		}
		if info, err := dir.Lstat(p.base()); err == nil && info.IsDir() && dir.Remove(p.base()) == nil {
			_ = syncFolder(dir)
		}
		_ = dir.Close()
	}
}

// writeFault is like access, for failed writes.
func writeFault(f *Folder, p Path, err error) error {
	if err == nil || errors.As(err, new(*candor.Error)) {
		return err
	}
	if oserror.IsFull(err) {
		return fault(kaiza.FileWriteFailed, p, "could not be written: the disk is full. The old content is in place.", err)
	}
	return f.access(p, err, kaiza.FileWriteFailed)
}

package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Limits of one set of changes: number of files, and bytes of new or old content.
const (
	MaxChanges     = 256
	maxChangeBytes = 32 << 20
)

// Change is the intended change of one file or folder.
type Change struct {
	Path     Path
	Before   *File  // the file as read; nil if it must not exist yet
	After    []byte // the new content, not copied; must not be modified until the change is done
	Delete   bool   // remove the file; After is ignored
	MakeDirs bool   // create missing parent folders

	// Mode is the permission bits after the change. If nil, an existing file keeps its mode and a new file gets 0644,
	// less the umask.
	Mode *fs.FileMode
	// Folder creates the folder at Path or, with Delete, removes it; it must then be empty. Before and After are
	// ignored.
	Folder bool

	owner *owner // owner of a file that is restored
}

// Stage checks a set of changes against the disk and makes it durable in the state folder: first the old contents, then
// the journal that names them. It does not modify the workspace. The id identifies the change (at most 64 letters,
// digits, "-" and "_"; it must be new). note is JSON of the caller, which [Recover] returns. The caller must hold the
// [Lock].
//
// The error is FILE_ALREADY_EXISTS, FILE_NOT_FOUND, PATH_NOT_FOUND or HASH_MISMATCH if the disk differs from what the changes
// expect; OUTSIDE_WORKSPACE or INSUFFICIENT_PERMISSIONS if a link, a mode or the options forbid the change;
// FILE_WRITE_FAILED if the target is not a file or the state folder cannot be written; and INVALID_INPUT_VALUE or
// INVALID_PATH if the set is inconsistent.
func (f *Folder) Stage(state *os.Root, id string, changes []Change, note json.RawMessage) (*Staged, error) {
	if f.options.ReadOnly {
		return nil, candor.New(kaiza.InsufficientPermissions, "The workspace is read-only.", candor.WithDetails(map[string]any{"permission": "write"}))
	}
	if err := f.sensible(changes); err != nil {
		return nil, err
	}
	s := &Staged{folder: f, journal: Journal{Version: journalVersion, ID: id, Root: f.path, At: time.Now().UTC(), Note: note}}
	if err := s.planAll(changes); err != nil {
		return nil, err
	}
	var err error
	if s.vault, err = newVault(state, id); err != nil {
		return nil, stateFault(err)
	}
	if err := s.vault.fill(s.journal, s.moves); err != nil {
		return nil, stateFault(errors.Join(err, s.vault.remove()))
	}
	return s, nil
}

// planAll checks every change against the disk and adds it to the journal.
func (s *Staged) planAll(changes []Change) error {
	size := 0
	for _, c := range changes {
		if c.Folder {
			s.order = append(s.order, -1)
			if err := s.planFolder(c, changes); err != nil {
				return err
			}
			continue
		}
		m, err := s.folder.plan(c)
		if err != nil {
			return err
		}
		if size += len(m.from.bytes); size > maxChangeBytes {
			return tooMuch()
		}
		s.order = append(s.order, len(s.moves))
		s.moves = append(s.moves, m)
		s.journal.Files = append(s.journal.Files, m.entry())
		if c.MakeDirs && c.Before == nil {
			if err := s.planFolders(c.Path.parent()); err != nil {
				return err
			}
		}
	}
	return nil
}

func stateFault(cause error) error {
	return candor.New(kaiza.FileWriteFailed, "The change could not be prepared in the state folder; nothing was changed.", candor.WithCause(cause))
}

func tooMuch() error {
	return candor.New(kaiza.InvalidInputValue, fmt.Sprintf("A change may touch at most %d bytes; make several.", maxChangeBytes))
}

// sensible refuses a set that cannot be applied in any order: a file named twice, or a file that is also a folder.
func (f *Folder) sensible(changes []Change) error {
	if len(changes) == 0 || len(changes) > MaxChanges {
		return candor.New(kaiza.InvalidInputValue, fmt.Sprintf("A change must touch 1 to %d files, not %d.", MaxChanges, len(changes)))
	}
	files, named, size := map[string]bool{}, map[string]bool{}, 0
	for _, c := range changes {
		size += len(c.After)
		switch {
		case c.Path.IsRoot():
			return fault(kaiza.FileWriteFailed, c.Path, "is a folder.", nil)
		case named[c.Path.name]:
			return fault(kaiza.InvalidInputValue, c.Path, "is named twice in one change.", nil)
		case c.Folder:
		case c.Delete && c.Before == nil:
			return fault(kaiza.InvalidInputValue, c.Path, "cannot be deleted without its present hash.", nil)
		case !c.Delete && int64(len(c.After)) > f.options.MaxFile:
			return fault(kaiza.InvalidInputValue, c.Path, fmt.Sprintf("would be larger than %d bytes.", f.options.MaxFile), nil)
		case size > maxChangeBytes:
			return tooMuch()
		}
		named[c.Path.name] = true
		files[c.Path.name] = !c.Folder
	}
	for name := range named {
		for at := (Path{name}).parent(); !at.IsRoot(); at = at.parent() {
			if files[at.name] {
				return fault(kaiza.InvalidPath, at, "cannot be a file and a folder in one change.", nil)
			}
		}
	}
	return nil
}

// plan checks one change against the disk and returns its move.
func (f *Folder) plan(c Change) (move, error) {
	m := move{path: c.Path, temp: newTempName(), from: absent(), to: absent()}
	if !c.Delete {
		m.to = content{hash: Hash(c.After), bytes: c.After, mode: 0o644, owner: owner{-1, -1}}
		if c.owner != nil {
			m.to.owner = *c.owner
		}
		if c.Mode != nil {
			m.to.mode = c.Mode.Perm()
		}
	}
	dir, err := f.walk(c.Path.parent())
	if c.MakeDirs && c.Before == nil && candor.CodeOf(err) == kaiza.PathNotFound {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	if err := f.writable(dir, c.Path); err != nil {
		return m, err
	}
	now, err := f.readPlain(dir, c.Path, c.Path.base())
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Before == nil:
		return m, nil
	case err != nil:
		return m, f.access(c.Path, err, kaiza.FileWriteFailed)
	case c.Before == nil:
		return m, fault(kaiza.FileAlreadyExists, c.Path, "exists already.", nil)
	case now.Hash != c.Before.Hash:
		return m, changedMeanwhile(c.Path)
	}
	m.from = content{hash: now.Hash, bytes: now.Content, mode: now.Mode.Perm(), owner: now.owner}
	if !c.Delete && c.owner == nil {
		m.to.owner = m.from.owner
	}
	if !c.Delete && c.Mode == nil {
		m.to.mode = m.from.mode
	}
	return m, nil
}

// writable checks the type of a file and the permission bits, which root would bypass.
func (f *Folder) writable(dir *os.Root, p Path) error {
	if here, err := dir.Stat("."); err != nil || here.Mode().Perm()&0o222 == 0 {
		return fault(kaiza.InsufficientPermissions, p, "is in a folder without write permission.", err)
	}
	info, err := dir.Lstat(p.base())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return f.access(p, err, kaiza.FileWriteFailed)
	case info.IsDir():
		return fault(kaiza.FileWriteFailed, p, "is a folder.", nil)
	case info.Mode().IsRegular() && info.Mode().Perm()&0o222 == 0:
		return fault(kaiza.InsufficientPermissions, p, "is read-only.", nil)
	}
	return nil // reading refuses links and special files
}

func changedMeanwhile(p Path) error {
	return fault(kaiza.HashMismatch, p, "has changed since it was read.", nil)
}

// Staged is a set of changes that has been checked, backed up and written to the journal. It must not be used by several
// goroutines at once.
//
// The sequence of calls is [Folder.Stage], [Staged.Commit], optionally [Staged.Undo], and always [Staged.Done].
type Staged struct {
	folder  *Folder
	vault   *vault
	journal Journal
	moves   []move
	order   []int                  // index of the move of each change, or -1 for a folder
	made    []Path                 // folders that Commit created, outermost first
	removed []JournalFolder        // folders that Commit removed, in order
	modes   map[string]fs.FileMode // modes of restored folders
	started bool
	stuck   bool // an undo failed; the backups are kept
	found   bool // Adopt found content that Commit did not write
	undone  bool
}

// Stuck reports whether undoing the change failed for some file or folder. Do not call [Staged.Done] for a stuck change
// if [Recover] shall try again.
func (s *Staged) Stuck() bool { return s.stuck }

// Journal returns the journal of the change, for the caller's records.
func (s *Staged) Journal() Journal { return s.journal }

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
	back := (*move).backHere
	if len(s.removed) > 0 { // the folders that the moves hold open are removed
		back = (*move).back
	}
	if undo := s.takeBack(back); undo != nil {
		e := candor.From(err)
		return e.With(candor.WithDetails(e.Details().With("not_undone", candor.From(undo).Message())))
	}
	return coded(err)
}

func (s *Staged) commit(ctx context.Context) error {
	for _, name := range s.journal.Folders {
		if err := s.makeFolder(Path{name}); err != nil {
			return err
		}
	}
	for i := range s.moves {
		if err := ctx.Err(); err != nil {
			return candor.From(err)
		}
		if err := s.moves[i].prepare(s.folder); err != nil {
			return err
		}
		s.folder.testHook("prepared")
	}
	for i := range s.moves {
		if err := ctx.Err(); err != nil {
			return candor.From(err)
		}
		if err := s.moves[i].turn(s.folder); err != nil {
			return err
		}
		s.folder.testHook("turned")
	}
	for _, r := range s.journal.Removed {
		if err := s.removeFolder(r); err != nil {
			return err
		}
	}
	return nil
}

// Undo reverts Commit: it restores old contents, modes and deleted files, and removes new files and folders. It does not
// touch a file that was changed after Commit; it then returns HASH_MISMATCH, after reverting all other files. Undo may
// be called again.
func (s *Staged) Undo() error {
	s.undone = true
	return s.takeBack((*move).back)
}

// Adopt treats the current content of the files as the result of Commit and returns it in the order of the changes; nil
// means that the file does not exist. It is for files that are modified on purpose after Commit; Undo then accepts the
// modified content. Adopt saves this content with the backups, and if the change is undone, Done sets it aside in the
// state folder, because it may be the work of a person. It is an error if a file cannot be read, because it has a second
// hard link, another type, or its folder is missing; Undo then replaces it regardless of its content.
func (s *Staged) Adopt() ([][]byte, error) {
	found := make([][]byte, len(s.order))
	changed, failed := false, error(nil)
	for at, i := range s.order {
		if i < 0 {
			continue
		}
		m := &s.moves[i]
		written := m.to.hash
		if err := m.adopt(s.folder); err != nil {
			m.replace, m.done = true, true
			failed = errors.Join(failed, err)
			continue
		}
		m.replace = false
		if m.to.hash != written {
			changed = true
			s.journal.Files[i] = m.entry()
		}
		if m.to.hash == "" {
			continue
		}
		found[at] = append([]byte{}, m.to.bytes...)
		if m.to.hash != written && m.done {
			s.found = true
			if err := s.vault.write(strconv.Itoa(i)+".found", found[at]); err != nil && !errors.Is(err, fs.ErrExist) { // exists from an earlier attempt
				failed = errors.Join(failed, stateFault(err))
			}
		}
	}
	if changed { // so that the journal is accurate after a crash and for a later undo
		if err := s.vault.note(s.journal); err != nil {
			failed = errors.Join(failed, stateFault(err))
		}
	}
	if failed != nil {
		return nil, coded(failed)
	}
	return found, nil
}

// takeBack undoes the completed moves in reverse order and continues after errors.
func (s *Staged) takeBack(back func(*move, *Folder) error) error {
	faults := s.remakeFolders()
	for i := len(s.moves) - 1; i >= 0; i-- {
		m := &s.moves[i]
		if !m.done {
			continue
		}
		if err := back(m, s.folder.own()); err != nil && !m.isBack(s.folder) {
			faults = append(faults, writeFault(s.folder, m.path, err))
			continue
		}
		m.done = false
		s.folder.testHook("put back")
	}
	s.release()
	faults = append(faults, s.folder.unmake(s.made)...)
	s.stuck = len(faults) > 0
	return coded(errors.Join(faults...))
}

// isBack reports whether the target of a move has the old content again: undoing may fail after the rename. If the
// folder cannot be opened, isBack returns false, because it may have been moved away with the new file in it.
func (m *move) isBack(f *Folder) bool {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	look := move{path: m.path, from: m.from, to: m.to}
	at := look.sideIn(f, dir)
	return at == atBefore || at == atBoth
}

func (s *Staged) release() {
	for i := range s.moves {
		s.moves[i].release()
	}
}

// ErrJournalLeft is the error of [Staged.Done] if the journal still exists, so that [Recover] will find it.
var ErrJournalLeft = errors.New("the journal could not be removed")

// Done ends the change: it removes journal and backups, and [Recover] no longer finds it. If Undo failed, Done sets them
// aside in the state folder instead, because they are the only copy of the content that could not be restored. After an
// error other than [ErrJournalLeft], the remaining files are unused.
func (s *Staged) Done() error {
	if s.stuck {
		return s.vault.setAside("stuck")
	}
	if s.found && s.undone {
		return s.vault.setAside(setAsideFound)
	}
	return s.vault.remove()
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

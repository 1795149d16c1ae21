package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// What one set of changes may touch at most: files, and bytes of new or of old content.
const (
	MaxChanges     = 256
	maxChangeBytes = 32 << 20
)

// Change is what shall become of one file.
type Change struct {
	Path     Path
	Before   *File  // as it was read; nil: it must not exist yet
	After    []byte // the new content, kept by reference until the change is done
	Delete   bool   // remove the file; After is not looked at
	MakeDirs bool   // make missing folders on the way

	// Mode is the permission bits afterwards. nil keeps those of an old file and gives a new one 0644, less the umask.
	Mode *fs.FileMode
	// Folder makes the folder at Path or, with Delete, removes it, which must be empty by then. Before and After are not looked at.
	Folder bool

	owner *owner // of a file that is put back as it was
}

// Stage checks a set of changes against the disk and makes it durable in the state folder: the old contents, then the journal that
// names them. The workspace itself is not touched yet. The id names the change (letters, digits, "-" and "_", at most 64, never used
// before); note is the caller's own JSON and comes back from [Recover]. The caller holds the [Lock].
//
// FILE_ALREADY_EXISTS, FILE_NOT_FOUND, PATH_NOT_FOUND and HASH_MISMATCH say that the disk is not as the change supposes;
// OUTSIDE_WORKSPACE and INSUFFICIENT_PERMISSIONS that it may not be changed, by a link, by its mode or at all; FILE_WRITE_FAILED that
// the target is no file, or that the state folder could not be written; INVALID_INPUT_VALUE and INVALID_PATH that the set makes no sense.
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

// planAll checks every change against the disk and enters it in the journal.
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

// sensible refuses a set that could not be done in any order: a file named twice, or a file that is also a folder.
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

// plan checks one change against the disk and says how it will be done.
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
	defer dir.Close() //nolint:errcheck // it was only looked at
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

// writable checks the type of a file and the permission bits, which root would ignore.
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
	return nil // links and special files are refused when they are read
}

func changedMeanwhile(p Path) error {
	return fault(kaiza.HashMismatch, p, "has changed since it was read.", nil)
}

// Staged is a set of changes that is checked, backed up and written down. It belongs to one goroutine at a time.
//
// The life of a change: [Folder.Stage], [Staged.Commit], perhaps [Staged.Undo], and in the end always [Staged.Done].
type Staged struct {
	folder  *Folder
	vault   *vault
	journal Journal
	moves   []move
	order   []int                  // for each change its move, or -1 for a folder
	made    []Path                 // folders that Commit made, outermost first
	removed []JournalFolder        // folders that Commit removed, in this order
	modes   map[string]fs.FileMode // of folders that are put back
	started bool
	stuck   bool // something could not be put back: the backups stay
	found   bool // Adopt found what Commit has not written
	undone  bool
}

// Stuck reports that something which had to be put back could not be. A change that is stuck is not ended with [Staged.Done] if [Recover]
// shall try again.
func (s *Staged) Stuck() bool { return s.stuck }

// Journal is what was written down, for the caller's own record.
func (s *Staged) Journal() Journal { return s.journal }

// Commit does all changes or none. Everything that needs space is written first, beside its target; then the names are turned over one
// by one, each after a last look at the old content. If one fails, those before it are put back, and the error says why. HASH_MISMATCH
// is a file that somebody changed meanwhile; FILE_WRITE_FAILED what the system refused, with the old content in place; an
// INVARIANT_VIOLATION named INV_WRITE_READS_BACK a file that does not hold what was written to it.
//
// After a crash inside Commit [Recover] brings back one of the two sides.
func (s *Staged) Commit(ctx context.Context) error {
	if s.started {
		return candor.New(kaiza.InternalError, "A change is committed once.")
	}
	s.started = true
	defer s.release()
	err := s.commit(ctx)
	if err == nil {
		return nil
	}
	back := (*move).backHere
	if len(s.removed) > 0 { // the folders that the moves hold open are gone
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

// Undo puts everything back as it was before Commit: old contents, modes, deleted files; new files and folders go. A file that somebody
// changed after Commit is left alone and makes Undo fail with HASH_MISMATCH, after all others were put back. Undo may be called again.
func (s *Staged) Undo() error {
	s.undone = true
	return s.takeBack((*move).back)
}

// Adopt takes what the files hold now for what Commit made of them, and returns it in the order of the changes; nil is no file. It is for
// files that somebody was meant to work on after Commit: Undo goes back from there. What it found is kept with the backups, and if it is
// undone Done sets it aside in the state folder: it may be the work of a person who came in between. A file that cannot be read, because it has
// a second name, another kind or no folder by now, is an error; Undo replaces it then, whatever it is.
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
			if err := s.vault.write(strconv.Itoa(i)+".found", found[at]); err != nil && !errors.Is(err, fs.ErrExist) { // from the first try
				failed = errors.Join(failed, stateFault(err))
			}
		}
	}
	if changed { // so that after a crash, and for a later undo, the journal says what is there
		if err := s.vault.note(s.journal); err != nil {
			failed = errors.Join(failed, stateFault(err))
		}
	}
	if failed != nil {
		return nil, coded(failed)
	}
	return found, nil
}

// takeBack undoes the moves that were done, the last one first, and goes on where one fails.
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

// isBack reports a move whose target holds the old content again: its way back may fail after the names were turned over. A folder
// that cannot be opened proves nothing: it may have been moved away with the new file in it.
func (m *move) isBack(f *Folder) bool {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	look := move{path: m.path, from: m.from, to: m.to}
	at := look.standsIn(f, dir)
	return at == atBefore || at == atBoth
}

func (s *Staged) release() {
	for i := range s.moves {
		s.moves[i].release()
	}
}

// ErrJournalLeft is what [Staged.Done] fails with if the journal is still there, so that [Recover] will find it.
var ErrJournalLeft = errors.New("the journal could not be removed")

// Done ends the change: journal and backups are removed, and [Recover] will not hear of it. If Undo failed they are set aside in the
// state folder instead, because they hold the only copy of what could not be put back. An error other than [ErrJournalLeft] says that
// something was left that means nothing any more.
func (s *Staged) Done() error {
	if s.stuck {
		return s.vault.setAside("stuck")
	}
	if s.found && s.undone {
		return s.vault.setAside(setAsideFound)
	}
	return s.vault.remove()
}

// writeFault is access for a failing write.
func writeFault(f *Folder, p Path, err error) error {
	if err == nil || errors.As(err, new(*candor.Error)) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fault(kaiza.FileWriteFailed, p, "could not be written: the disk is full. The old content is in place.", err)
	}
	return f.access(p, err, kaiza.FileWriteFailed)
}

package workspace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Limits of one set of changes: number of files, and bytes of new or old content.
const (
	MaxChanges     = 256
	maxChangeBytes = 32 << 20
)

// Change is the intended change of one file.
type Change struct {
	Path     Path
	Before   *File  // the file as read; nil if it must not exist yet
	After    []byte // the new content, not copied; must not be modified until the change is done
	Delete   bool   // remove the file; After is ignored
	MakeDirs bool   // create missing parent folders

	mode fs.FileMode // of a new file that restores a deleted one; 0 means 0644, less the umask
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
	s := &Staged{folder: f, vault: vault{state, id}, journal: Journal{Version: journalVersion, ID: id, Root: f.path, At: time.Now().UTC(), Note: note}}
	if err := s.planAll(changes); err != nil {
		return nil, err
	}
	if err := s.vault.fill(s.journal, s.files); err != nil {
		return nil, stateFault(err)
	}
	return s, nil
}

// Check returns the error that [Folder.Stage] would return for these changes now. It writes nothing.
func (f *Folder) Check(changes []Change) error { return (&Staged{folder: f}).planAll(changes) }

// planAll checks every change against the disk and adds it to the journal.
func (s *Staged) planAll(changes []Change) error {
	if s.folder.options.ReadOnly {
		return candor.New(kaiza.InsufficientPermissions, "The workspace is read-only.", candor.WithDetails(map[string]any{"permission": "write"}))
	}
	if err := s.folder.sensible(changes); err != nil {
		return err
	}
	size := 0
	for _, c := range changes {
		e, before, err := s.folder.plan(c)
		if err != nil {
			return err
		}
		if size += len(before); size > maxChangeBytes {
			return tooMuch()
		}
		s.journal.Files = append(s.journal.Files, e)
		s.files = append(s.files, content{before: before, after: c.After})
		if c.MakeDirs && c.Before == nil {
			if err := s.planFolders(c.Path.parent()); err != nil {
				return err
			}
		}
	}
	return nil
}

// planFolders adds the missing folders of a path to the journal. It refuses a folder without write permission.
func (s *Staged) planFolders(to Path) error {
	missing := missingFolders(s.folder, to)
	if len(missing) > 0 {
		to = Path{missing[0]}.parent()
	}
	dir, err := s.folder.walk(to)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	if in, err := dir.Stat("."); err == nil && in.Mode().Perm()&0o222 == 0 {
		return fault(kaiza.InsufficientPermissions, to, "is a folder without write permission.", nil)
	}
	for _, name := range missing {
		if !slices.Contains(s.journal.Folders, name) {
			s.journal.Folders = append(s.journal.Folders, name)
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

// sensible refuses a set that cannot be applied in any order: a file named twice, or one that is also a folder.
func (f *Folder) sensible(changes []Change) error {
	if len(changes) == 0 || len(changes) > MaxChanges {
		return candor.New(kaiza.InvalidInputValue, fmt.Sprintf("A change must touch 1 to %d files, not %d.", MaxChanges, len(changes)))
	}
	named, size := map[string]bool{}, 0
	for _, c := range changes {
		size += len(c.After)
		switch {
		case c.Path.IsRoot():
			return fault(kaiza.FileWriteFailed, c.Path, "is a folder.", nil)
		case named[c.Path.name]:
			return fault(kaiza.InvalidInputValue, c.Path, "is named twice in one change.", nil)
		case c.Delete && c.Before == nil:
			return fault(kaiza.InvalidInputValue, c.Path, "cannot be deleted without its present hash.", nil)
		case !c.Delete && int64(len(c.After)) > f.options.MaxFile:
			return fault(kaiza.InvalidInputValue, c.Path, fmt.Sprintf("would be larger than %d bytes.", f.options.MaxFile), nil)
		case size > maxChangeBytes:
			return tooMuch()
		}
		named[c.Path.name] = true
	}
	for name := range named {
		for at := (Path{name}).parent(); !at.IsRoot(); at = at.parent() {
			if named[at.name] {
				return fault(kaiza.InvalidPath, at, "cannot be a file and a folder in one change.", nil)
			}
		}
	}
	return nil
}

// plan checks one change against the disk and returns its entry in the journal and the old content.
func (f *Folder) plan(c Change) (e JournalFile, before []byte, err error) {
	e = JournalFile{Path: c.Path.name, Temp: newTempName(), Mode: cmp.Or(c.mode, 0o644)}
	if !c.Delete {
		e.After, e.SizeAfter = Hash(c.After), len(c.After)
	}
	dir, err := f.walk(c.Path.parent())
	if c.MakeDirs && c.Before == nil && candor.CodeOf(err) == kaiza.PathNotFound {
		return e, nil, nil
	}
	if err != nil {
		return e, nil, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	if err := f.writable(dir, c.Path); err != nil {
		return e, nil, err
	}
	now, err := f.readPlain(dir, c.Path, c.Path.base())
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Before == nil:
		return e, nil, nil
	case err != nil:
		return e, nil, f.access(c.Path, err, kaiza.FileWriteFailed)
	case c.Before == nil:
		return e, nil, fault(kaiza.FileAlreadyExists, c.Path, "exists already.", nil)
	case now.Hash != c.Before.Hash:
		return e, nil, changedMeanwhile(c.Path)
	}
	e.Before, e.SizeBefore, e.Mode = now.Hash, len(now.Content), now.Mode.Perm()
	return e, now.Content, nil
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

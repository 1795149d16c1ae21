package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// planFolder checks a change that creates or removes a folder and adds it to the journal.
func (s *Staged) planFolder(c Change, all []Change) error {
	if c.Delete {
		return s.planRemoval(c, all)
	}
	if !c.MakeDirs {
		dir, err := s.folder.walk(c.Path.parent())
		if err != nil {
			return err
		}
		_ = dir.Close()
	}
	if _, err := s.folder.root.Lstat(c.Path.name); err == nil {
		return fault(kaiza.FileAlreadyExists, c.Path, "exists already.", nil)
	}
	if c.Mode != nil {
		if s.modes == nil {
			s.modes = map[string]fs.FileMode{}
		}
		s.modes[c.Path.name] = c.Mode.Perm()
	}
	return s.planFolders(c.Path)
}

// planRemoval checks that a folder is empty except for names that the same change removes.
func (s *Staged) planRemoval(c Change, all []Change) error {
	dir, err := s.folder.walk(c.Path)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	info, err := dir.Stat(".")
	if err != nil {
		return s.folder.access(c.Path, err, kaiza.FileWriteFailed)
	}
	names, more, err := readNames(dir)
	if err != nil {
		return s.folder.access(c.Path, err, kaiza.FileWriteFailed)
	}
	for _, name := range names {
		at := c.Path.join(name)
		if more || !slices.ContainsFunc(all, func(other Change) bool { return other.Delete && other.Path == at }) {
			return notEmpty(c.Path, nil)
		}
	}
	if in, err := s.folder.root.Stat(c.Path.parent().String()); err == nil && in.Mode().Perm()&0o222 == 0 {
		return fault(kaiza.InsufficientPermissions, c.Path, "is in a folder that is read-only.", nil)
	}
	s.journal.Removed = append(s.journal.Removed, JournalFolder{Path: c.Path.name, Mode: info.Mode().Perm()})
	return nil
}

func notEmpty(p Path, cause error) error {
	return advised(fault(kaiza.FileWriteFailed, p, "is a folder that is not empty.", cause), "Delete what is in the folder first.")
}

// planFolders records which folders of a path are missing, outermost first.
func (s *Staged) planFolders(to Path) error {
	at := Path{}
	for _, segment := range split(to.name) {
		at = at.join(segment)
		if slices.Contains(s.journal.Folders, at.name) {
			continue
		}
		dir, err := s.folder.walk(at)
		switch {
		case err == nil:
			err = dir.Close()
		case candor.CodeOf(err) == kaiza.PathNotFound:
			err = s.addFolder(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addFolder records a missing folder. It refuses a name that is taken by a file.
func (s *Staged) addFolder(at Path) error {
	if _, err := s.folder.root.Lstat(at.name); err == nil {
		return fault(kaiza.PathNotFound, at, "is not a folder.", nil)
	}
	if in, err := s.folder.root.Stat(at.parent().String()); err == nil && in.Mode().Perm()&0o222 == 0 {
		return fault(kaiza.InsufficientPermissions, at, "would be in a folder without write permission.", nil)
	}
	s.journal.Folders = append(s.journal.Folders, at.name)
	return nil
}

// makeFolder creates one folder. A folder that another process created in the meantime is used but not removed on undo,
// unless creating it is the change itself.
func (s *Staged) makeFolder(at Path) error {
	dir, err := s.folder.walk(at.parent())
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the folder was synced
	err = dir.Mkdir(at.base(), 0o755)
	if errors.Is(err, fs.ErrExist) && len(s.moves) == 0 {
		return fault(kaiza.FileAlreadyExists, at, "exists already.", err)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		s.made = append(s.made, at)
		if mode, ok := s.modes[at.name]; ok {
			err = dir.Chmod(at.base(), mode)
		}
		err = errors.Join(err, syncFolder(dir))
	}
	s.folder.testHook("made a folder")
	return writeFault(s.folder, at, err)
}

// removeFolder removes one empty folder, which must not be a link.
func (s *Staged) removeFolder(r JournalFolder) error {
	at := Path{r.Path}
	dir, err := s.folder.walk(at.parent())
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the folder was synced
	info, err := dir.Lstat(at.base())
	switch {
	case err != nil:
		return s.folder.access(at, err, kaiza.FileWriteFailed)
	case !info.IsDir():
		return fault(kaiza.FileWriteFailed, at, "was replaced while it was being removed.", nil)
	}
	if err := removeEmpty(dir, at.base()); err != nil {
		return notEmpty(at, err)
	}
	s.removed = append(s.removed, r)
	s.folder.testHook("removed a folder")
	return writeFault(s.folder, at, syncFolder(dir))
}

// remakeFolders restores removed folders, outermost first, and continues after errors.
func (s *Staged) remakeFolders() (faults []error) {
	for _, r := range slices.Backward(s.removed) {
		if err := s.folder.remake(r); err != nil {
			faults = append(faults, err)
		}
	}
	s.removed = nil
	return faults
}

// remake restores a folder that a change has removed, with its mode. It does not touch an existing folder.
func (f *Folder) remake(r JournalFolder) error {
	at := Path{r.Path}
	dir, err := f.walk(at.parent())
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the folder was synced
	err = dir.Mkdir(at.base(), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(dir.Chmod(at.base(), r.Mode.Perm()), syncFolder(dir))
	}
	return writeFault(f, at, err)
}

// unmake removes the folders that a change created, innermost first, if they are still empty. The errors are for empty
// folders that could not be removed.
func (f *Folder) unmake(made []Path) (faults []error) {
	for i := len(made) - 1; i >= 0; i-- {
		dir, err := f.walk(made[i].parent())
		if err != nil {
			continue
		}
		if info, err := dir.Lstat(made[i].base()); err == nil && info.IsDir() {
			err = removeEmpty(dir, made[i].base())
			if err != nil && !errors.Is(err, fs.ErrNotExist) && emptyFolder(dir, made[i].base()) {
				faults = append(faults, writeFault(f, made[i], err))
			}
			_ = syncFolder(dir)
		}
		_ = dir.Close()
	}
	return faults
}

// emptyFolder reports whether a folder is empty. A folder that is not empty is used by another process.
func emptyFolder(dir *os.Root, name string) bool {
	f, err := dir.Open(name)
	if err != nil {
		return true // removing it again reports the error
	}
	names, err := f.Readdirnames(1)
	_ = f.Close()
	return len(names) == 0 && errors.Is(err, io.EOF)
}

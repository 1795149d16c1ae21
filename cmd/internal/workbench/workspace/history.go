package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Limits of the history of a workspace: complete changes with the old contents of their files. Each is a folder in the
// state folder whose name contains the time, the bytes of old content, and the id.
const (
	historyFolder   = "history"
	MaxHistory      = 500       // number of changes kept
	MaxHistoryBytes = 256 << 20 // size of the old contents of all changes
)

var historyForm = lazyregexp.New(`^([0-9a-f]{16})-([0-9a-f]{1,15})-([A-Za-z0-9_-]{1,64})$`)

// Past is a complete change with its old contents.
type Past struct {
	ID      string
	Journal Journal

	name string // name of its folder
	ends bool   // the change has not ended and is not in the history yet
}

// Ends reports whether the journal of the change was not in the history yet.
func (p *Past) Ends() bool { return p.ends }

func (j *Journal) historyName() string {
	size := 0
	for _, f := range j.Files {
		size += f.SizeBefore
	}
	return fmt.Sprintf("%016x-%x-%s", j.At.UnixNano(), size, j.ID)
}

// Archive ends a change like [Staged.Done], but keeps its old contents for [Folder.Reverse]. Beyond [MaxHistory] changes
// or [MaxHistoryBytes] it removes the oldest.
func (s *Staged) Archive() error { return s.vault.archive(s.journal) }

// archive moves the vault into the history atomically. After that [Recover] does not find it.
func (v *vault) archive(j Journal) error {
	if j.At.IsZero() { // written by an older version that lacks the fields of the history
		return v.remove()
	}
	if err := v.state.Mkdir(historyFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return errors.Join(ErrJournalLeft, err, v.close())
	}
	err := renameNew(v.state, changesFolder+"/"+v.id, historyFolder+"/"+j.historyName())
	if err != nil {
		return errors.Join(ErrJournalLeft, err, v.close())
	}
	history, err := v.state.OpenRoot(historyFolder)
	if err != nil {
		return errors.Join(err, v.close())
	}
	return errors.Join(syncFolder(history), syncFolder(v.all), forgetOld(history), history.Close(), v.close())
}

// historyNames returns the names in the history, oldest first.
func historyNames(history *os.Root) ([]string, error) {
	d, err := history.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !historyForm.MatchString(name) })
	slices.Sort(names)
	return names, nil
}

// forgetOld removes the oldest changes beyond the limits.
func forgetOld(history *os.Root) error {
	names, err := historyNames(history)
	if err != nil {
		return err
	}
	kept, size := 0, int64(0)
	for _, name := range slices.Backward(names) {
		n, _ := strconv.ParseInt(historyForm.FindStringSubmatch(name)[2], 16, 64) // 15 digits always fit
		kept++
		if size += n; kept > MaxHistory || size > MaxHistoryBytes {
			err = errors.Join(err, history.RemoveAll(name))
		}
	}
	return err
}

// History returns the changes whose old contents are kept, newest first. It omits changes that cannot be read.
func History(state *os.Root) ([]Past, error) {
	history, err := state.OpenRoot(historyFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer history.Close() //nolint:errcheck // opened for reading
	names, err := historyNames(history)
	if err != nil {
		return nil, err
	}
	var all []Past
	for _, name := range slices.Backward(names) {
		id := historyForm.FindStringSubmatch(name)[3]
		dir, err := enter(history, name)
		if err != nil {
			continue // removed in the meantime
		}
		j, err := (&vault{dir: dir, id: id}).read()
		_ = dir.Close()
		if err == nil {
			all = append(all, Past{ID: id, Journal: j, name: name})
		}
	}
	return all, nil
}

// Difference is a file or folder that has changed since a change.
type Difference struct {
	Path  string `json:"path"`
	Says  string `json:"says"`
	After string `json:"after,omitempty"` // the hash after the change
	Now   string `json:"now,omitempty"`   // the current hash
}

// Differences compares the workspace with the result of a change. If there are no differences, the change can be undone.
func (f *Folder) Differences(p *Past) ([]Difference, error) {
	_, found, err := f.compare(&p.Journal)
	return found, err
}

// compare returns the current files, nil for missing ones, and their differences from the result of a change.
func (f *Folder) compare(j *Journal) (now []*File, found []Difference, err error) {
	if err := j.check(f); err != nil {
		return nil, nil, candor.New(kaiza.FileReadFailed, "The record of the change is damaged.", candor.WithCause(err))
	}
	for _, e := range j.Files {
		file, err := f.lookup(Path{e.Path})
		if err != nil {
			found = append(found, Difference{Path: e.Path, Says: candor.From(err).Message(), After: e.After})
		} else if says := e.differs(file); says != "" {
			d := Difference{Path: e.Path, Says: says, After: e.After}
			if file != nil {
				d.Now = file.Hash
			}
			found = append(found, d)
		}
		now = append(now, file)
	}
	return now, append(found, f.compareFolders(j)...), nil
}

// lookup reads a file, or returns nil if it does not exist.
func (f *Folder) lookup(p Path) (*File, error) {
	dir, err := f.walk(p.parent())
	if candor.CodeOf(err) == kaiza.PathNotFound {
		return nil, nil //nolint:nilnil // without the folder the file does not exist
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	now, err := f.readPlain(dir, p, p.base())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // the file does not exist
	}
	if err != nil {
		return nil, f.access(p, err, kaiza.FileReadFailed)
	}
	return &now, nil
}

// differs describes how a file differs from the result of the change; it returns "" if it does not.
func (e *JournalFile) differs(now *File) string {
	switch {
	case now == nil && e.After == "":
		return ""
	case now == nil:
		return "does not exist any more"
	case e.After == "":
		return "exists again"
	case now.Hash != e.After:
		return "has changed since"
	case e.ModeAfter != nil && now.Mode.Perm() != *e.ModeAfter:
		return fmt.Sprintf("has the mode %04o, and had %04o after the change", now.Mode.Perm(), *e.ModeAfter)
	}
	return ""
}

// compareFolders checks a change that only created folders: they must exist and be empty.
func (f *Folder) compareFolders(j *Journal) (found []Difference) {
	if len(j.Files) > 0 || len(j.Folders) == 0 {
		return nil
	}
	last := Path{j.Folders[len(j.Folders)-1]}
	dir, err := f.walk(last)
	if err != nil {
		return []Difference{{Path: last.name, Says: "does not exist any more"}}
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	if names, _, err := readNames(dir); err != nil || len(names) > 0 {
		return []Difference{{Path: last.name, Says: "is not empty"}}
	}
	return nil
}

// Reverse returns the changes that undo a change: they restore contents, modes, deleted files and removed folders, and
// remove new files and new folders that are then empty. If the workspace differs from the result of the change, Reverse
// returns the differences and no changes. The error is FILE_READ_FAILED if the old contents cannot be read.
func (f *Folder) Reverse(state *os.Root, p *Past) ([]Change, []Difference, error) {
	now, found, err := f.compare(&p.Journal)
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	v, err := openPast(state, p)
	if err != nil {
		return nil, nil, unkept(err)
	}
	defer v.dir.Close() //nolint:errcheck // opened for reading
	var back []Change
	for i, e := range p.Journal.Files {
		if e.Before == e.After && e.ModeAfter == nil {
			continue
		}
		c := Change{Path: Path{e.Path}, Before: now[i], Delete: e.Before == "", MakeDirs: now[i] == nil}
		if e.Before != "" {
			if c.After, err = v.backup(i, e.Before, f.options.MaxFile); err != nil {
				return nil, nil, unkept(err)
			}
			mode := e.Mode
			c.Mode, c.owner = &mode, &owner{e.UID, e.GID}
		}
		back = append(back, c)
	}
	return f.reverseFolders(&p.Journal, back), nil, nil
}

// openPast opens the folder of a change in the history.
func openPast(state *os.Root, p *Past) (*vault, error) {
	if p.ends {
		if v, err := openPastIn(state, changesFolder, p.ID); err == nil {
			return v, nil
		} // otherwise it was moved to the history in the meantime
	}
	return openPastIn(state, historyFolder, p.name)
}

func openPastIn(state *os.Root, folder, name string) (*vault, error) {
	all, err := state.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	dir, err := enter(all, name)
	if err := errors.Join(err, all.Close()); err != nil {
		return nil, err
	}
	return &vault{dir: dir, id: name}, nil
}

func unkept(cause error) error {
	return candor.New(kaiza.FileReadFailed, "The contents before the change are no longer kept, or cannot be read.", candor.WithCause(cause))
}

// reverseFolders adds the folders that the change removed, before all files, and the folders that it created and that
// will be empty, after them.
func (f *Folder) reverseFolders(j *Journal, back []Change) []Change {
	var first []Change
	for _, r := range slices.Backward(j.Removed) {
		if _, err := f.root.Lstat(r.Path); errors.Is(err, fs.ErrNotExist) {
			mode := r.Mode
			first = append(first, Change{Path: Path{r.Path}, Folder: true, MakeDirs: true, Mode: &mode})
		}
	}
	goes := func(p Path) bool {
		return slices.ContainsFunc(back, func(c Change) bool { return c.Delete && c.Path == p })
	}
	for _, name := range slices.Backward(j.Folders) {
		at := Path{name}
		dir, err := f.walk(at)
		if err != nil {
			continue
		}
		names, more, err := readNames(dir)
		_ = dir.Close()
		if err == nil && !more && !slices.ContainsFunc(names, func(name string) bool { return !goes(at.join(name)) }) {
			back = append(back, Change{Path: at, Folder: true, Delete: true})
		}
	}
	return append(first, back...)
}

// Move returns the changes that rename a file: they create the new name and then remove the old one. replaced is the
// existing file with the new name, or nil if it must not exist.
func Move(from File, to Path, replaced *File, makeDirs bool) []Change {
	mode, keeps := from.Mode.Perm(), from.owner
	return []Change{
		{Path: to, Before: replaced, After: from.Content, MakeDirs: makeDirs, Mode: &mode, owner: &keeps},
		{Path: from.Path, Before: &from, Delete: true},
	}
}

// SameFile reports whether two paths refer to the same file, as two spellings do on a case-insensitive file system.
func (f *Folder) SameFile(a, b Path) bool {
	one, err := f.root.Lstat(a.String())
	if err != nil {
		return false
	}
	other, err := f.root.Lstat(b.String())
	return err == nil && os.SameFile(one, other)
}

// IsFolder reports whether a path is a folder, reached without following a link.
func (f *Folder) IsFolder(p Path) bool {
	dir, err := f.walk(p)
	if err != nil {
		return false
	}
	_ = dir.Close()
	return true
}

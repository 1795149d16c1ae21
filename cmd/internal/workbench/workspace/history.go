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

// The history of a workspace: complete changes with the old contents of their files. Each is a folder in the state folder whose name says when
// it was made, how many bytes of old content it holds, and its id.
const (
	historyFolder   = "history"
	MaxHistory      = 500       // changes whose old contents are kept
	MaxHistoryBytes = 256 << 20 // of old contents, of all changes together
)

var historyForm = lazyregexp.New(`^([0-9a-f]{16})-([0-9a-f]{1,15})-([A-Za-z0-9_-]{1,64})$`)

// Past is a complete change whose old contents are kept.
type Past struct {
	ID      string
	Journal Journal

	name string // of its folder
	ends bool   // it is still among the changes that have not ended
}

// Ends reports a change whose journal was not in the history yet.
func (p *Past) Ends() bool { return p.ends }

func (j *Journal) historyName() string {
	size := 0
	for _, f := range j.Files {
		size += f.SizeBefore
	}
	return fmt.Sprintf("%016x-%x-%s", j.At.UnixNano(), size, j.ID)
}

// Archive ends a change like [Staged.Done], but keeps its old contents for [Folder.Reverse]. Beyond [MaxHistory] changes or [MaxHistoryBytes]
// the oldest are forgotten.
func (s *Staged) Archive() error { return s.vault.archive(s.journal) }

// archive moves the vault into the history, in one step. From then on [Recover] does not see it.
func (v *vault) archive(j Journal) error {
	if j.At.IsZero() { // written by an older program, without what the history needs
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

// historyNames returns the names in the history, the oldest first.
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

// forgetOld removes the oldest changes beyond what is kept.
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

// History returns the changes whose old contents are kept, the newest first. What cannot be read is left out.
func History(state *os.Root) ([]Past, error) {
	history, err := state.OpenRoot(historyFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer history.Close() //nolint:errcheck // it was only read
	names, err := historyNames(history)
	if err != nil {
		return nil, err
	}
	var all []Past
	for _, name := range slices.Backward(names) {
		id := historyForm.FindStringSubmatch(name)[3]
		dir, err := enter(history, name)
		if err != nil {
			continue // forgotten in this moment
		}
		j, err := (&vault{dir: dir, id: id}).read()
		_ = dir.Close()
		if err == nil {
			all = append(all, Past{ID: id, Journal: j, name: name})
		}
	}
	return all, nil
}

// Difference is a file or folder that is not as a change has left it.
type Difference struct {
	Path  string `json:"path"`
	Says  string `json:"says"`
	After string `json:"after,omitempty"` // the hash that the change has left
	Now   string `json:"now,omitempty"`   // the hash that it has now
}

// Differences compares the workspace with what a change has left. None means that the change can be undone.
func (f *Folder) Differences(p *Past) ([]Difference, error) {
	_, found, err := f.compare(&p.Journal)
	return found, err
}

// compare also returns the files as they are now, nil for one that is not there.
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
		return nil, nil //nolint:nilnil // no folder, no file
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only looked at
	now, err := f.readPlain(dir, p, p.base())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // as said above
	}
	if err != nil {
		return nil, f.access(p, err, kaiza.FileReadFailed)
	}
	return &now, nil
}

// differs describes how a file differs from what the change left, or returns "".
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

// compareFolders looks at a change that made nothing but folders: they must be there, and empty.
func (f *Folder) compareFolders(j *Journal) (found []Difference) {
	if len(j.Files) > 0 || len(j.Folders) == 0 {
		return nil
	}
	last := Path{j.Folders[len(j.Folders)-1]}
	dir, err := f.walk(last)
	if err != nil {
		return []Difference{{Path: last.name, Says: "does not exist any more"}}
	}
	defer dir.Close() //nolint:errcheck // it was only looked at
	if names, _, err := readNames(dir); err != nil || len(names) > 0 {
		return []Difference{{Path: last.name, Says: "is not empty"}}
	}
	return nil
}

// Reverse returns the changes that put everything back as it was before a change: contents, modes, deleted files and removed folders come
// back, new files go, and so do new folders that are empty by then. If the workspace is not as the change left it there are
// differences, and no changes. FILE_READ_FAILED: the old contents cannot be read.
func (f *Folder) Reverse(state *os.Root, p *Past) ([]Change, []Difference, error) {
	now, found, err := f.compare(&p.Journal)
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	v, err := openPast(state, p)
	if err != nil {
		return nil, nil, unkept(err)
	}
	defer v.dir.Close() //nolint:errcheck // it was only read
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
		} // else it has moved to the history in this moment
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

// reverseFolders adds the folders that the change removed, before all files, and those that it made and that will be empty, after them.
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

// Move returns the changes that give a file another name: the new name first, then the old one goes. replaced is the file that stands under the
// new name, nil if there must be none.
func Move(from File, to Path, replaced *File, makeDirs bool) []Change {
	mode, keeps := from.Mode.Perm(), from.owner
	return []Change{
		{Path: to, Before: replaced, After: from.Content, MakeDirs: makeDirs, Mode: &mode, owner: &keeps},
		{Path: from.Path, Before: &from, Delete: true},
	}
}

// SameFile reports whether two paths lead to one file, as two spellings of a name do where upper and lower case are the same.
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

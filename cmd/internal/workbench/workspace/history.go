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
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Limits of the history of a workspace: complete changes with the old contents of their files. Each is a folder in the
// state folder; its name contains the time, the bytes of old content, and the id.
const (
	historyFolder   = "history"
	MaxHistory      = 500       // number of changes kept
	MaxHistoryBytes = 256 << 20 // size of the old contents of all changes
)

var historyForm = lazyregexp.New(`^([0-9a-f]{16})-([0-9a-f]{1,15})-([A-Za-z0-9_-]{1,64})$`)

// PastChange is a complete change with its old contents.
type PastChange struct {
	Journal
	folder string // below the state folder
}

func (j *Journal) historyName() string {
	size := 0
	for _, f := range j.Files {
		size += f.SizeBefore
	}
	return fmt.Sprintf("%016x-%x-%s", j.At.UnixNano(), size, j.ID)
}

// archive moves the vault into the history atomically. After that [Recover] does not find it.
func (v vault) archive(j Journal) error {
	err := v.state.MkdirAll(historyFolder, 0o700)
	if err == nil {
		err = v.state.Rename(changesFolder+"/"+v.id, historyFolder+"/"+j.historyName())
	}
	if err != nil {
		return errors.Join(ErrJournalLeft, err)
	}
	return errors.Join(durable.SyncDir(v.state, historyFolder), durable.SyncDir(v.state, changesFolder), forgetOld(v.state))
}

// historyNames returns the names in the history, oldest first.
func historyNames(state *os.Root) (names []string, err error) {
	entries, err := fs.ReadDir(state.FS(), historyFolder) // sorted
	for _, e := range entries {
		if historyForm.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, durable.IgnoreMissing(err)
}

// forgetOld removes the oldest changes beyond the limits.
func forgetOld(state *os.Root) error {
	names, err := historyNames(state)
	kept, size := 0, int64(0)
	for _, name := range slices.Backward(names) {
		n, _ := strconv.ParseInt(historyForm.FindStringSubmatch(name)[2], 16, 64) // 15 digits always fit
		kept++
		if size += n; kept > MaxHistory || size > MaxHistoryBytes {
			err = errors.Join(err, state.RemoveAll(historyFolder+"/"+name))
		}
	}
	return err
}

// History returns the changes with old contents, newest first. It omits changes that cannot be read.
func History(state *os.Root) (all []PastChange, err error) {
	names, err := historyNames(state)
	for _, name := range slices.Backward(names) {
		folder := historyFolder + "/" + name
		if j, err := readJournal(state, folder+"/"+journalFile, historyForm.FindStringSubmatch(name)[3]); err == nil {
			all = append(all, PastChange{j, folder})
		}
	}
	return all, err
}

// Reverse returns the changes that undo a change: they restore contents and deleted files, and remove new files. They
// apply only to files that are as the change left them. The error is FILE_READ_FAILED if the old contents cannot be read.
func (f *Folder) Reverse(state *os.Root, p *PastChange) (back []Change, err error) {
	if err := p.check(f); err != nil {
		return nil, unkept(err)
	}
	for i, e := range p.Files {
		if e.Before == e.After {
			continue
		}
		c := Change{Path: Path{e.Path}, Delete: e.Before == "", MakeDirs: e.After == "", mode: e.Mode}
		if e.After != "" {
			c.Before = &File{Path: c.Path, Hash: e.After, Size: int64(e.SizeAfter)}
		}
		if e.Before != "" {
			if c.After, err = readBackup(state, p.folder+"/"+backupName(i), e.Before); err != nil {
				return nil, unkept(err)
			}
		}
		back = append(back, c)
	}
	return back, nil
}

// RemoveMade removes the folders that a change created, if they are empty. It is for use after an undo, which it does not
// fail.
func (f *Folder) RemoveMade(p *PastChange) { f.removeFolders(p.Folders) }

func unkept(cause error) error {
	return candor.New(kaiza.FileReadFailed, "The contents before the change are no longer kept, or cannot be read.", candor.WithCause(cause))
}

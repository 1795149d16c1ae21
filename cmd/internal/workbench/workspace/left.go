package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Unfinished returns the journals of the changes that have not ended, oldest first. A change that is not Left may be in
// progress, unless the caller holds the [Lock]. Journals that cannot be read are omitted.
func Unfinished(state *os.Root) ([]Journal, error) {
	ids, err := changeIDs(state)
	if err != nil {
		return nil, err
	}
	var found []Journal
	for _, id := range ids {
		v, err := openPastIn(state, changesFolder, id)
		if err != nil {
			continue // it has ended in the meantime
		}
		if j, err := v.read(); err == nil {
			found = append(found, j)
		}
		_ = v.dir.Close()
	}
	slices.SortStableFunc(found, func(a, b Journal) int { return a.At.Compare(b.At) })
	return found, nil
}

// UnfinishedPast is like [Unfinished], for callers that know which of the changes are complete.
func UnfinishedPast(state *os.Root) ([]Past, error) {
	found, err := Unfinished(state)
	all := make([]Past, 0, len(found))
	for _, j := range found {
		all = append(all, Past{ID: j.ID, Journal: j, name: j.historyName(), ends: true})
	}
	return all, err
}

// Restore undoes a change that [Recover] has left, and replaces files that were changed since. It sets their contents
// aside in the state folder if they can be read. It does not replace a folder that is not empty. The caller must hold
// the [Lock].
func Restore(state *os.Root, id string, open func(root string) (*Folder, error)) (Recovered, error) {
	if !goodID.MatchString(id) {
		return Recovered{}, candor.New(kaiza.InvalidInputValue, "The id of a change is made of letters, digits, - and _.")
	}
	r, _ := recoverOne(state, id, open, func(Journal) Verdict { return Undo }, true)
	if r.State == Undone || r.State == NotDone {
		return r, nil
	}
	if r.Err == nil {
		r.Err = fault(kaiza.FileReadFailed, Path{r.Unknown[0]}, "cannot be put back: what it held is not kept, or cannot be read.", nil)
	}
	return r, coded(r.Err)
}

// leave keeps the journal for the next attempt and marks the files that need no undo. Later changes of those files do
// not concern this change.
func (c *recovery) leave() error {
	j := c.report.Journal
	j.Left, j.Files = true, slices.Clone(j.Files)
	for i := range j.Files {
		j.Files[i].Back = !slices.Contains(c.report.Unknown, j.Files[i].Path)
	}
	return errors.Join(c.vault.note(j), c.vault.close())
}

// keepFound saves the current content of a file that will be replaced, if it can be read.
func (c *recovery) keepFound(i int, p Path) {
	now, err := c.folder.lookup(p)
	if err != nil || now == nil {
		return
	}
	err = c.vault.write(strconv.Itoa(i)+".found", now.Content)
	c.found = c.found || err == nil || errors.Is(err, fs.ErrExist)
}

// laterFiles returns the files that were changed by later changes since a change was left. They must not be undone: a later
// change may have written the same content and was reported as successful.
func laterFiles(state *os.Root, j *Journal) map[string]bool {
	if !j.Left {
		return nil
	}
	history, err := History(state)
	if err != nil {
		return nil
	}
	named := map[string]bool{}
	for i := range history {
		if !history[i].Journal.At.After(j.At) {
			continue
		}
		for _, f := range history[i].Journal.Files {
			named[f.Path] = true
		}
	}
	return named
}

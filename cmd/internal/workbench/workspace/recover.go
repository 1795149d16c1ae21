package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Verdict is the decision about a change whose journal was left behind.
type Verdict int

// Verdicts about a change. The zero value is the cautious one.
const (
	Undo    Verdict = iota // undo the change
	Keep                   // the change is complete
	Archive                // the change is complete, and its old contents are kept for a later undo
	Wait                   // not yet decided; the journal is kept
)

// State is the state of a change after [Recover].
type State string

// States of a recovered change.
const (
	NotDone State = "not done" // no file had been changed
	Kept    State = "kept"     // the change was complete
	Undone  State = "undone"   // all changes were undone
	Unknown State = "unknown"  // some file matches neither side and was not touched; all others were undone; the journal is kept
	Damaged State = "damaged"  // the journal is malformed; it was set aside, and no file was touched
	// Superseded is the state of a change that was Unknown until later changes replaced its files: there is nothing left
	// to undo.
	Superseded State = "superseded"
	Waiting    State = "waiting" // it could not be recovered, see Err; the journal is kept
)

// Recovered is the result of recovering one journal.
type Recovered struct {
	ID      string
	Journal Journal // empty if Damaged
	State   State
	Unknown []string // paths that were not touched
	Err     error    // the reason, if Waiting or Damaged
}

// Recover recovers the changes that a killed process left in the state folder. Afterwards each change is complete or
// undone, unless it is reported as Unknown, Damaged or Waiting. open opens the workspace of a journal; Recover closes
// it. decide is called for each change before it is undone and decides whether it was declared done. A journal that is
// damaged or has a newer version is set aside and reported, and Recover continues. The error means that the state folder
// cannot be read. The caller must hold the [Lock], so that no change is in progress.
func Recover(state *os.Root, open func(root string) (*Folder, error), decide func(Journal) Verdict) ([]Recovered, error) {
	ids, err := changeIDs(state)
	if err != nil {
		return nil, err
	}
	var found []Recovered
	for _, id := range ids {
		if r, ok := recoverOne(state, id, open, decide, false); ok {
			found = append(found, r)
		}
	}
	return found, nil
}

// changeIDs returns the ids of the changes that have not ended, without those that were set aside.
func changeIDs(state *os.Root) ([]string, error) {
	all, err := state.OpenRoot(changesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids, _, err := readNames(all)
	return slices.DeleteFunc(ids, func(id string) bool { return !goodID.MatchString(id) }), errors.Join(err, all.Close())
}

// recoverOne recovers one change. report is false for a vault without a journal. force replaces files that match neither
// side.
func recoverOne(state *os.Root, id string, open func(string) (*Folder, error), decide func(Journal) Verdict, force bool) (r Recovered, report bool) {
	r = Recovered{ID: id, State: Waiting}
	all, err := state.OpenRoot(changesFolder)
	if err != nil {
		r.Err = err
		return r, true
	}
	v, err := openVault(state, all, id)
	if err != nil {
		r.Err = err
		return r, true
	}
	j, err := v.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Err = v.remove()
		return r, r.Err != nil
	case errors.Is(err, errDamaged), errors.Is(err, errSpecial), errors.Is(err, errLink):
		r.State, r.Err = Damaged, errors.Join(err, v.setAside("damaged"))
		return r, true
	case err != nil:
		r.Err = errors.Join(err, v.close())
		return r, true
	}
	f, err := open(j.Root)
	if err != nil {
		r.Journal, r.Err = j, errors.Join(err, v.close())
		return r, true
	}
	defer f.Close() //nolint:errcheck // the changes were synced
	if err := j.check(f); err != nil {
		r.State, r.Err = Damaged, errors.Join(err, v.setAside("damaged"))
		return r, true
	}
	r.Journal = j
	(&recovery{folder: f, vault: v, report: &r, force: force, later: laterFiles(state, &j)}).run(decide)
	return r, true
}

// recovery is the recovery of one readable journal.
type recovery struct {
	folder *Folder
	vault  *vault
	report *Recovered
	moves  []move
	force  bool            // replace files that match neither side
	found  bool            // a replaced content was saved
	later  map[string]bool // files that later changes have modified
}

func (c *recovery) run(decide func(Journal) Verdict) {
	before, superseded := 0, 0
	for i, e := range c.report.Journal.Files {
		m := move{path: Path{e.Path}, temp: e.Temp, from: absent(), to: absent()}
		m.from = content{hash: e.Before, mode: e.Mode, owner: owner{e.UID, e.GID}}
		m.to.hash, m.to.mode = e.After, e.Mode
		if e.ModeAfter != nil {
			m.to.mode = *e.ModeAfter
		}
		m.sweep(c.folder)
		switch at := m.currentSide(c.folder); {
		case e.Back:
			before++
		case c.later[e.Path]:
			before, superseded = before+1, superseded+1
		case at == atBoth, at == atBefore:
			before++
		case at == atAfter:
			m.done = true
		case c.force:
			m.done, m.replace = true, true
			c.keepFound(i, m.path)
		default:
			c.report.Unknown = append(c.report.Unknown, e.Path)
		}
		c.moves = append(c.moves, m)
	}
	foldersBefore, foldersAfter := c.folders()
	untouched := before+foldersBefore == len(c.moves)+foldersBefore+foldersAfter
	if superseded > 0 && untouched {
		c.report.State, c.report.Err = Superseded, c.vault.setAside("superseded")
		return
	}
	c.obey(decide(c.report.Journal), untouched)
}

// obey applies a verdict. The verdict counts regardless of the contents: a person may have edited the files of a change
// that was declared done and whose journal was left behind. untouched means that all files have their old content, so
// there is nothing to undo.
func (c *recovery) obey(v Verdict, untouched bool) {
	switch v {
	case Keep:
		c.report.State, c.report.Err = Kept, c.vault.remove()
	case Archive:
		c.report.State, c.report.Err = Kept, c.vault.archive(c.report.Journal)
	case Wait:
		c.report.State, c.report.Err = Waiting, c.vault.close()
	default:
		if untouched && !c.report.Journal.Left {
			c.end(NotDone)
			return
		}
		c.undo()
	}
}

// folders counts the folders that are as before the change and as after it. Folders that were created for new files do
// not count, because the files do.
func (c *recovery) folders() (before, after int) {
	count := func(name string, removed bool) {
		dir, err := c.folder.walk(Path{name})
		if err == nil {
			_ = dir.Close()
		}
		if (err == nil) == removed {
			before++
		} else {
			after++
		}
	}
	j := &c.report.Journal
	for _, r := range j.Removed {
		count(r.Path, true)
	}
	if len(j.Files) == 0 && len(j.Removed) == 0 {
		for _, name := range j.Folders {
			count(name, false)
		}
	}
	return before, after
}

func (c *recovery) undo() {
	for _, r := range slices.Backward(c.report.Journal.Removed) {
		if err := c.folder.remake(r); err != nil {
			c.report.State, c.report.Err = Waiting, errors.Join(coded(err), c.vault.close())
			return
		}
	}
	for i := len(c.moves) - 1; i >= 0; i-- {
		m := &c.moves[i]
		if !m.done {
			continue
		}
		if err := c.load(i, m); err != nil { // without its backup a file cannot be restored; it is reported as unknown
			c.report.Unknown = append(c.report.Unknown, m.path.name)
			continue
		}
		if err := m.back(c.folder.own()); err != nil {
			c.report.State, c.report.Err = Waiting, errors.Join(coded(err), c.vault.close())
			return
		}
		c.folder.testHook("put back")
	}
	c.end(Undone)
}

// end removes the folders that the change created, and the journal. If a file is unknown, end keeps the journal for the
// next attempt and for a person.
func (c *recovery) end(state State) {
	made := make([]Path, 0, len(c.report.Journal.Folders))
	for _, name := range c.report.Journal.Folders {
		made = append(made, Path{name})
	}
	if faults := c.folder.unmake(made); len(faults) > 0 {
		c.report.State, c.report.Err = Waiting, errors.Join(coded(errors.Join(faults...)), c.vault.close())
		return
	}
	if len(c.report.Unknown) > 0 {
		c.report.State, c.report.Err = Unknown, c.leave()
		return
	}
	if c.found {
		c.report.State, c.report.Err = state, c.vault.setAside(setAsideFound)
		return
	}
	c.report.State, c.report.Err = state, c.vault.remove()
}

// load reads the old content of a move from its backup.
func (c *recovery) load(i int, m *move) (err error) {
	if m.from.hash != "" {
		m.from.bytes, err = c.vault.backup(i, m.from.hash, c.folder.options.MaxFile)
	}
	return err
}

// side is the side of a move that a file is on.
type side int

const (
	atNeither side = iota
	atBefore
	atAfter
	atBoth // the move does not change this file
)

// currentSide returns which side of the move a file is on.
func (m *move) currentSide(f *Folder) side {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return m.compare(File{}, err)
	}
	m.dir = dir
	defer m.release()
	return m.sideIn(f, dir)
}

// sideIn is like stands, for a target whose folder is open.
func (m *move) sideIn(f *Folder, dir *os.Root) side {
	return m.compare(f.own().readPlain(dir, m.path, m.path.base()))
}

// side compares the target, or the error of reading it, with both sides of the move.
func (m *move) compare(now File, err error) side {
	hash, mode := now.Hash, now.Mode.Perm()
	if err != nil {
		hash, mode = "", 0
	}
	absent := errors.Is(err, fs.ErrNotExist) || candor.CodeOf(err) == kaiza.PathNotFound
	switch {
	case err != nil && !absent:
		return atNeither
	case hash == m.from.hash && hash == m.to.hash:
		return m.compareMode(mode)
	case hash == m.from.hash:
		return atBefore
	case hash == m.to.hash:
		return atAfter
	}
	return atNeither
}

// compareMode is like stands, for a move that changes only the mode.
func (m *move) compareMode(now fs.FileMode) side {
	switch {
	case !m.changesMode():
		return atBoth
	case now == m.from.mode:
		return atBefore
	case now == m.to.mode:
		return atAfter
	}
	return atNeither
}

// sweep removes the temporary file that the journal names, regardless of its content.
//
// BUG: an edit by another process between the last check and the exchange of names briefly has the temporary name. If this
// process is killed then, the edit is removed, because it cannot be distinguished from a partly written file.
func (m *move) sweep(f *Folder) {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return // without the folder the file does not exist
	}
	if info, err := dir.Lstat(m.temp); err == nil && info.Mode().IsRegular() {
		_ = errors.Join(dir.Remove(m.temp), syncFolder(dir))
	}
	_ = dir.Close()
}

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Verdict says what shall become of a change whose journal was left behind.
type Verdict int

// The verdicts. The zero one is the careful one.
const (
	Undo    Verdict = iota // put everything back
	Keep                   // the change is complete
	Archive                // the change is complete, and the old contents are kept for a later undo
	Wait                   // not known now: the journal stays
)

// State is how a change was left by [Recover].
type State string

// The states.
const (
	NotDone State = "not done" // nothing had been changed
	Kept    State = "kept"     // it was complete
	Undone  State = "undone"   // what had been changed is back as it was
	Unknown State = "unknown"  // something is neither as before nor as after: it was left alone, the rest is back as it was; the journal stays
	Damaged State = "damaged"  // the journal cannot be understood: it was set aside, and nothing was touched
	// Superseded is a change that was left Unknown until later changes have replaced the files: nothing of it is left to undo.
	Superseded State = "superseded"
	Waiting    State = "waiting" // it could not be recovered, see Err; the journal stays
)

// Recovered is what became of one journal.
type Recovered struct {
	ID      string
	Journal Journal // empty if Damaged
	State   State
	Unknown []string // paths that were left alone
	Err     error    // why, if Waiting or Damaged
}

// Recover recovers the changes that a killed process left in the state folder: afterwards each one is done completely or not at all, and no
// temporary file is left in the workspace. Open opens the workspace of a journal; Recover closes it. Decide is asked about each
// change before anything of it is undone: it knows whether the change was declared done. A journal that is damaged or from the future is set aside and reported; it stops nothing.
// The error says that the state folder itself cannot be read. The caller holds the [Lock], so that no change is under way.
func Recover(state *os.Root, open func(root string) (*Folder, error), decide func(Journal) Verdict) ([]Recovered, error) {
	all, err := state.OpenRoot(changesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids, _, err := readNames(all)
	if err := errors.Join(err, all.Close()); err != nil {
		return nil, err
	}
	var found []Recovered
	for _, id := range ids {
		if !goodID.MatchString(id) {
			continue // set aside earlier, or not ours
		}
		if r, ok := recoverOne(state, id, open, decide, false); ok {
			found = append(found, r)
		}
	}
	return found, nil
}

// recoverOne puts one change right. There is nothing to report of a vault without a journal. Force replaces files that are neither as before
// nor as after.
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
	defer f.Close() //nolint:errcheck // what counts was synced
	if err := j.check(f); err != nil {
		r.State, r.Err = Damaged, errors.Join(err, v.setAside("damaged"))
		return r, true
	}
	r.Journal = j
	(&recovery{folder: f, vault: v, report: &r, force: force, later: laterFiles(state, &j)}).run(decide)
	return r, true
}

// recovery is the work on one journal that could be read.
type recovery struct {
	folder *Folder
	vault  *vault
	report *Recovered
	moves  []move
	force  bool            // replace what is neither as before nor as after
	found  bool            // something that was replaced is kept
	later  map[string]bool // files that later changes have changed
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
		switch at := m.stands(c.folder); {
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

// obey does what was decided. The verdict counts whatever the files hold: a person may have edited those of a change that was declared done
// and whose journal was left behind. Untouched says that all files are as before the change, so that there is nothing to undo.
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

// folders counts the folders that stand as before the change and as after it. Folders that were made for new files do not count: those
// files do.
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
		if err := c.load(i, m); err != nil { // without its backup a file cannot go back; it is left for a person
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

// end takes away the folders that the change made, and the journal. Where something is unknown the journal stays for the next
// try, and for a person.
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

// load gives a move the old content.
func (c *recovery) load(i int, m *move) (err error) {
	if m.from.hash != "" {
		m.from.bytes, err = c.vault.backup(i, m.from.hash, c.folder.options.MaxFile)
	}
	return err
}

// The sides of a move that a file can be on.
type standing int

const (
	atNeither standing = iota
	atBefore
	atAfter
	atBoth // the change does not change this file
)

// stands returns which side of the move a file is on.
func (m *move) stands(f *Folder) standing {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return m.standing(File{}, err)
	}
	m.dir = dir
	defer m.release()
	return m.standsIn(f, dir)
}

// standsIn is stands for a target whose folder is open.
func (m *move) standsIn(f *Folder, dir *os.Root) standing {
	return m.standing(f.own().readPlain(dir, m.path, m.path.base()))
}

// standing compares what is at the target, or the error of reading it, with both sides of the move.
func (m *move) standing(now File, err error) standing {
	hash, mode := now.Hash, now.Mode.Perm()
	if err != nil {
		hash, mode = "", 0
	}
	absent := errors.Is(err, fs.ErrNotExist) || candor.CodeOf(err) == kaiza.PathNotFound
	switch {
	case err != nil && !absent:
		return atNeither
	case hash == m.from.hash && hash == m.to.hash:
		return m.standsByMode(mode)
	case hash == m.from.hash:
		return atBefore
	case hash == m.to.hash:
		return atAfter
	}
	return atNeither
}

// standsByMode is stands for a move that changes only the mode.
func (m *move) standsByMode(now fs.FileMode) standing {
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

// sweep removes the temporary file that the journal names, whatever the crash left in it.
//
// BUG: an edit by another process between the last check and the exchange of names has the temporary name for a moment. If this process is
// killed then, the edit is removed, because it cannot be distinguished from a partly written file.
func (m *move) sweep(f *Folder) {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return // no folder, no file
	}
	if info, err := dir.Lstat(m.temp); err == nil && info.Mode().IsRegular() {
		_ = errors.Join(dir.Remove(m.temp), syncFolder(dir))
	}
	_ = dir.Close()
}

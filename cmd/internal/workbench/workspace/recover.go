package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// Verdict is the decision about a change that left its journal behind.
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
	Unknown State = "unknown"  // some file is not as before or after and was not touched; all others were undone; it was set aside
	Damaged State = "damaged"  // the journal is malformed; it was set aside, and no file was touched
	Waiting State = "waiting"  // it could not be recovered, see Err; the journal is kept
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
	names, err := fs.ReadDir(state.FS(), changesFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []Recovered
	for _, name := range names {
		if !goodID.MatchString(name.Name()) {
			continue // it was set aside
		}
		if r := recoverOne(vault{state, name.Name()}, open, decide); r.State != "" {
			found = append(found, r)
		}
	}
	return found, nil
}

// recoverOne recovers one change. Its state is "" if it has no journal.
func recoverOne(v vault, open func(string) (*Folder, error), decide func(Journal) Verdict) Recovered {
	r := Recovered{ID: v.id, State: Waiting}
	j, err := v.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r.Err = v.remove(); r.Err == nil {
			r.State = ""
		}
		return r
	case errors.Is(err, errDamaged):
		r.State, r.Err = Damaged, errors.Join(err, v.setAside("damaged"))
		return r
	case err != nil:
		r.Err = err
		return r
	}
	f, err := open(j.Root)
	if err != nil {
		r.Journal, r.Err = j, err
		return r
	}
	defer f.Close() //nolint:errcheck // the changes were synced
	if err := j.check(f); err != nil {
		r.State, r.Err = Damaged, errors.Join(err, v.setAside("damaged"))
		return r
	}
	r.Journal = j
	switch decide(j) {
	case Keep:
		r.State, r.Err = Kept, v.remove()
	case Archive:
		r.State, r.Err = Kept, v.archive(j)
	case Wait:
	case Undo:
		s := &Staged{folder: f, vault: v, journal: j, crashed: true}
		for range j.Files {
			s.files = append(s.files, content{touched: true})
		}
		s.recover(&r)
	}
	return r
}

// recover undoes a change. If a file is unknown, it sets the journal and the backups aside for a person.
func (s *Staged) recover(r *Recovered) {
	t := s.takeBack(false)
	r.Unknown = t.unknown
	switch {
	case len(t.faults) > 0:
		r.Err = coded(errors.Join(t.faults...))
	case len(t.unknown) > 0:
		r.State, r.Err = Unknown, s.vault.setAside("unknown")
	case t.restored == 0:
		r.State, r.Err = NotDone, s.vault.remove()
	default:
		r.State, r.Err = Undone, s.vault.remove()
	}
}

package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// The version of the journals this package writes, and the only one it reads.
const journalVersion = 1

// Names in the state folder: one folder per change, in it the journal and a backup for each file that existed.
const (
	changesFolder = "changes"
	journalFile   = "journal.json"
	maxJournal    = 16 << 20
)

// Journal is what a change leaves in the state folder from [Folder.Stage] to [Staged.Done]: enough to know after a crash how far it
// came, and to go back.
type Journal struct {
	Version int             `json:"version"`
	ID      string          `json:"id"`
	Root    string          `json:"root"`              // canonical path of the workspace
	At      time.Time       `json:"at"`                // when it was staged
	Note    json.RawMessage `json:"note,omitempty"`    // the caller's own
	Folders []string        `json:"folders,omitempty"` // folders that the change makes, outermost first
	Removed []JournalFolder `json:"removed,omitempty"` // folders that the change removes, in this order
	Files   []JournalFile   `json:"files"`
	// Left says that undoing it was tried and some files could not be put back; the others are marked as back.
	Left bool `json:"left,omitempty"`
}

// JournalFolder is a folder that a change removes.
type JournalFolder struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"` // permission bits before
}

// JournalFile is one file of a change.
type JournalFile struct {
	Path   string      `json:"path"`
	Before string      `json:"before,omitempty"` // hash; empty: it did not exist
	After  string      `json:"after,omitempty"`  // hash; empty: it is deleted
	Mode   fs.FileMode `json:"mode"`             // permission bits before
	UID    int         `json:"uid"`              // owner before; -1 is not known
	GID    int         `json:"gid"`
	Temp   string      `json:"temp"` // temporary name beside the file

	ModeAfter  *fs.FileMode `json:"mode_after,omitempty"` // permission bits afterwards, if a file that was there gets other ones
	SizeBefore int          `json:"size_before"`
	SizeAfter  int          `json:"size_after"`

	// Back marks a file of a change that is Left which needs no more undoing.
	Back bool `json:"back,omitempty"`
}

func (m *move) entry() JournalFile {
	e := JournalFile{Path: m.path.name, Before: m.from.hash, After: m.to.hash, Mode: m.from.mode,
		UID: m.from.owner.UID, GID: m.from.owner.GID, Temp: m.temp, SizeBefore: len(m.from.bytes), SizeAfter: len(m.to.bytes)}
	if m.changesMode() {
		mode := m.to.mode
		e.ModeAfter = &mode
	}
	return e
}

var (
	goodID   = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	goodHash = lazyregexp.New(`^([0-9a-f]{64})?$`)
)

// check refuses a journal that could not have been written by this package: a damaged one must not name files to touch.
func (j *Journal) check(f *Folder) error {
	if len(j.Files)+len(j.Folders)+len(j.Removed) == 0 || len(j.Files) > MaxChanges || len(j.Removed) > MaxChanges {
		return fmt.Errorf("the journal names %d files", len(j.Files))
	}
	for _, e := range j.Files {
		if p, err := f.Parse(e.Path); err != nil || p.name != e.Path || p.IsRoot() {
			return errors.Join(fmt.Errorf("the journal names %q", e.Path), err)
		}
		if !isTempName(e.Temp) || !goodHash.MatchString(e.Before) || !goodHash.MatchString(e.After) || e.Mode != e.Mode.Perm() ||
			e.ModeAfter != nil && *e.ModeAfter != e.ModeAfter.Perm() {
			return fmt.Errorf("journal entry %q: malformed", e.Path)
		}
	}
	names := slices.Clone(j.Folders)
	for _, r := range j.Removed {
		names = append(names, r.Path)
	}
	for _, name := range names {
		if p, err := f.Parse(name); err != nil || p.name != name || p.IsRoot() {
			return errors.Join(fmt.Errorf("the journal names the folder %q", name), err)
		}
	}
	return nil
}

// vault is the folder of one change in the state folder. It is there before the first byte of the workspace changes, and a vault without
// a journal is one that was not finished, or whose change is over: nothing depends on it.
type vault struct {
	state *os.Root // the state folder, which is the caller's
	all   *os.Root // the folder of all changes
	dir   *os.Root // the one of this
	id    string
}

// newVault makes the folder of a change.
func newVault(state *os.Root, id string) (*vault, error) {
	if !goodID.MatchString(id) {
		return nil, errors.New("the id of a change is made of letters, digits, - and _")
	}
	err := state.Mkdir(changesFolder, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	all, err := state.OpenRoot(changesFolder)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(all.Mkdir(id, 0o700), syncFolder(state)); err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return openVault(state, all, id)
}

// openVault opens the folder of a change. The vault owns all from here on.
func openVault(state, all *os.Root, id string) (*vault, error) {
	dir, err := enter(all, id)
	if err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return &vault{state: state, all: all, dir: dir, id: id}, nil
}

// fill writes the backups and then the journal. Once it returns, all of it survives a loss of power.
func (v *vault) fill(j Journal, moves []move) error {
	for i := range moves {
		if moves[i].from.hash == "" {
			continue
		}
		if err := v.write(backupName(i), moves[i].from.bytes); err != nil {
			return err
		}
	}
	if err := v.note(j); err != nil {
		return err
	}
	return syncFolder(v.all)
}

// note writes the journal, or replaces it.
func (v *vault) note(j Journal) error {
	text, err := json.Marshal(j)
	if err == nil && len(text) > maxJournal {
		err = errors.New("the journal is too long")
	}
	if err != nil {
		return err
	}
	err = v.write(journalFile+".new", text)
	if errors.Is(err, fs.ErrExist) { // from a try that failed
		err = errors.Join(v.dir.Remove(journalFile+".new"), v.write(journalFile+".new", text))
	}
	if err != nil {
		return err
	}
	return errors.Join(v.dir.Rename(journalFile+".new", journalFile), syncFolder(v.dir))
}

func backupName(i int) string { return strconv.Itoa(i) + ".before" }

func (v *vault) write(name string, data []byte) error {
	file, err := v.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

// read reads the journal. No journal at all is fs.ErrNotExist.
func (v *vault) read() (Journal, error) {
	var j Journal
	text, err := v.load(journalFile, maxJournal)
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return Journal{}, errDamaged
	}
	if j.Version != journalVersion || j.ID != v.id {
		return j, errDamaged
	}
	return j, nil
}

var errDamaged = errors.New("the journal is damaged, or of another version")

// backup reads the old content of the i-th file and checks that it is.
func (v *vault) backup(i int, hash string, limit int64) ([]byte, error) {
	data, err := v.load(backupName(i), limit)
	if err == nil && Hash(data) != hash {
		err = errDamaged
	}
	return data, err
}

func (v *vault) load(name string, limit int64) ([]byte, error) {
	file, err := openPlain(v.dir, name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errDamaged
	}
	return data, err
}

// remove takes the vault away, the journal first: whatever a crash leaves of it means nothing.
func (v *vault) remove() error {
	err := v.dir.Remove(journalFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrJournalLeft, err, v.close()) // the backups stay with it
	}
	return errors.Join(syncFolder(v.dir), v.all.RemoveAll(v.id), syncFolder(v.all), v.close())
}

// setAside keeps the vault under a name that is never taken for a change again.
func (v *vault) setAside(why string) error {
	name := v.id
	for n := 0; ; n++ {
		aside := fmt.Sprintf("%.64s.%s-%d", name, why, n)
		_, err := v.all.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			if err := v.all.Rename(v.id, aside); err != nil {
				return errors.Join(ErrJournalLeft, err, v.close())
			}
			return errors.Join(v.forget(setAsideFound), syncFolder(v.all), v.close())
		}
		if err != nil || n > 1000 {
			return errors.Join(ErrJournalLeft, err, errDamaged, v.close())
		}
	}
}

// setAsideFound is why a vault is set aside whose files held something else than was written when they were put back. Only so many of
// them are kept: a caller whose changes fail again and again must not fill the disk.
const (
	setAsideFound = "found"
	maxFound      = 50
)

// forget removes the oldest that were set aside for a reason, beyond those that are kept.
func (v *vault) forget(why string) error {
	names, err := fs.ReadDir(v.all.FS(), ".")
	if err != nil {
		return err
	}
	var aside []fs.FileInfo
	for _, name := range names {
		if info, err := name.Info(); err == nil && strings.Contains(name.Name(), "."+why+"-") {
			aside = append(aside, info)
		}
	}
	slices.SortFunc(aside, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for i := range max(0, len(aside)-maxFound) {
		err = errors.Join(err, v.all.RemoveAll(aside[i].Name()))
	}
	return err
}

func (v *vault) close() error { return errors.Join(v.dir.Close(), v.all.Close()) }

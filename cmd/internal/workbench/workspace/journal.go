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

// journalVersion is the version of the journals that are written, and the only version that is read.
const journalVersion = 1

// Names in the state folder. Each change has a folder with the journal and a backup of each existing file.
const (
	changesFolder = "changes"
	journalFile   = "journal.json"
	maxJournal    = 16 << 20
)

// Journal is the record of a change in the state folder, from [Folder.Stage] to [Staged.Done]. It suffices to determine
// after a crash how far the change got, and to undo it.
type Journal struct {
	Version int             `json:"version"`
	ID      string          `json:"id"`
	Root    string          `json:"root"`              // canonical path of the workspace
	At      time.Time       `json:"at"`                // when it was staged
	Note    json.RawMessage `json:"note,omitempty"`    // JSON of the caller
	Folders []string        `json:"folders,omitempty"` // folders that the change creates, outermost first
	Removed []JournalFolder `json:"removed,omitempty"` // folders that the change removes, in order
	Files   []JournalFile   `json:"files"`
	// Left is true if an undo was tried and some files could not be restored; the other files are marked Back.
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
	Before string      `json:"before,omitempty"` // hash; empty if the file did not exist
	After  string      `json:"after,omitempty"`  // hash; empty if the file is deleted
	Mode   fs.FileMode `json:"mode"`             // permission bits before
	UID    int         `json:"uid"`              // owner before; -1 if unknown
	GID    int         `json:"gid"`
	Temp   string      `json:"temp"` // name of the temporary file beside the file

	ModeAfter  *fs.FileMode `json:"mode_after,omitempty"` // permission bits afterwards, if those of an existing file change
	SizeBefore int          `json:"size_before"`
	SizeAfter  int          `json:"size_after"`

	// Back marks a file that needs no undo, in a journal that is Left.
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

// check refuses a journal that this package cannot have written, so that a damaged journal cannot name files to modify.
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

// vault is the folder of one change in the state folder. It exists before the workspace is modified. A vault without a
// journal is incomplete or belongs to an ended change, and can be removed.
type vault struct {
	state *os.Root // the state folder, owned by the caller
	all   *os.Root // the folder of all changes
	dir   *os.Root // the folder of this change
	id    string
}

// newVault creates the folder of a change.
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

// openVault opens the folder of a change. The vault takes ownership of all.
func openVault(state, all *os.Root, id string) (*vault, error) {
	dir, err := enter(all, id)
	if err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return &vault{state: state, all: all, dir: dir, id: id}, nil
}

// fill writes the backups and then the journal. When it returns nil, they survive a loss of power.
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

// note writes or replaces the journal.
func (v *vault) note(j Journal) error {
	text, err := json.Marshal(j)
	if err == nil && len(text) > maxJournal {
		err = errors.New("the journal is too long")
	}
	if err != nil {
		return err
	}
	err = v.write(journalFile+".new", text)
	if errors.Is(err, fs.ErrExist) { // from a failed attempt
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

// read reads the journal. The error is fs.ErrNotExist if the vault has no journal.
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

// backup reads the old content of the i-th file and checks its hash.
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
	defer file.Close() //nolint:errcheck // opened for reading
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errDamaged
	}
	return data, err
}

// remove removes the vault. It removes the journal first, so that the remains after a crash are ignored.
func (v *vault) remove() error {
	err := v.dir.Remove(journalFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrJournalLeft, err, v.close()) // the backups are kept with it
	}
	return errors.Join(syncFolder(v.dir), v.all.RemoveAll(v.id), syncFolder(v.all), v.close())
}

// setAside renames the vault so that it is no longer found as a change.
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

// setAsideFound is the suffix for a vault with modified contents that were replaced by an undo. At most maxFound of them
// are kept, so that a caller whose changes fail repeatedly cannot fill the disk.
const (
	setAsideFound = "found"
	maxFound      = 50
)

// forget removes the oldest vaults that were set aside with this suffix, beyond maxFound.
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

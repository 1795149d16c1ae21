package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
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
	Files   []JournalFile   `json:"files"`
}

// JournalFile is one file of a change.
type JournalFile struct {
	Path       string      `json:"path"`
	Before     string      `json:"before,omitempty"` // hash; empty if the file did not exist
	After      string      `json:"after,omitempty"`  // hash; empty if the file is deleted
	Mode       fs.FileMode `json:"mode"`             // permission bits
	Temp       string      `json:"temp"`             // name of the temporary file beside the file
	SizeBefore int         `json:"size_before"`
	SizeAfter  int         `json:"size_after"`
}

var (
	goodID   = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	goodHash = lazyregexp.New(`^([0-9a-f]{64})?$`)
)

// check refuses a journal that this package cannot have written, so that a damaged journal cannot name files to modify.
func (j *Journal) check(f *Folder) error {
	if len(j.Files) == 0 || len(j.Files) > MaxChanges {
		return fmt.Errorf("the journal names %d files", len(j.Files))
	}
	names := j.Folders
	for _, e := range j.Files {
		if !isTempName(e.Temp) || !goodHash.MatchString(e.Before) || !goodHash.MatchString(e.After) || e.Mode != e.Mode.Perm() {
			return fmt.Errorf("journal entry %q: malformed", e.Path)
		}
		names = append(names[:len(names):len(names)], e.Path)
	}
	for _, name := range names {
		if p, err := f.Parse(name); err != nil || p.name != name || p.IsRoot() {
			return errors.Join(fmt.Errorf("the journal names %q", name), err)
		}
	}
	return nil
}

// vault is the folder of one change in the state folder. It exists before the workspace is modified. A vault without a
// journal is incomplete or belongs to an ended change, and can be removed.
type vault struct {
	state *os.Root // the state folder, owned by the caller
	id    string
}

// in returns the name of a file of the change in the state folder.
func (v vault) in(name string) string { return changesFolder + "/" + v.id + "/" + name }

// fill creates the folder and writes the backups and then the journal. When it returns nil, they survive a loss of power.
func (v vault) fill(j Journal, files []content) error {
	if !goodID.MatchString(v.id) {
		return errors.New("the id of a change is made of letters, digits, - and _")
	}
	if err := v.state.MkdirAll(changesFolder, 0o700); err != nil {
		return err
	}
	if err := v.state.Mkdir(changesFolder+"/"+v.id, 0o700); err != nil {
		return err
	}
	if err := v.fillNew(j, files); err != nil {
		return errors.Join(err, v.remove())
	}
	return nil
}

func (v vault) fillNew(j Journal, files []content) error {
	for i := range files {
		if j.Files[i].Before == "" {
			continue
		}
		if err := v.write(backupName(i), files[i].before); err != nil {
			return err
		}
	}
	return errors.Join(v.note(j), durable.SyncDir(v.state, changesFolder), durable.SyncDir(v.state, "."))
}

// note writes or replaces the journal.
func (v vault) note(j Journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return durable.WriteFile(v.state, v.in(journalFile), text, 0o600)
}

func backupName(i int) string { return strconv.Itoa(i) + ".before" }

func (v vault) write(name string, data []byte) error {
	file, err := v.state.OpenFile(v.in(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

// read reads the journal. The error is fs.ErrNotExist if the vault has no journal.
func (v vault) read() (Journal, error) { return readJournal(v.state, v.in(journalFile), v.id) }

func readJournal(state *os.Root, name, id string) (j Journal, err error) {
	text, err := load(state, name, maxJournal)
	if err != nil {
		return j, err
	}
	if json.Unmarshal(text, &j) != nil || j.Version != journalVersion || j.ID != id {
		return Journal{}, errDamaged
	}
	return j, nil
}

var errDamaged = errors.New("the journal is damaged, or of another version")

// backup reads the old content of the i-th file and checks its hash.
func (v vault) backup(i int, hash string) ([]byte, error) {
	return readBackup(v.state, v.in(backupName(i)), hash)
}

func readBackup(state *os.Root, name, hash string) ([]byte, error) {
	data, err := load(state, name, maxChangeBytes)
	if err == nil && Hash(data) != hash {
		err = errDamaged
	}
	return data, err
}

// load reads a regular file of the state folder.
func load(state *os.Root, name string, limit int64) ([]byte, error) {
	info, err := state.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, errDamaged
	}
	return state.ReadFile(name)
}

// remove removes the vault. It removes the journal first, so that the remains after a crash are ignored.
func (v vault) remove() error {
	err := v.state.Remove(v.in(journalFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrJournalLeft, err) // the backups are kept with it
	}
	if err == nil {
		err = durable.SyncDir(v.state, v.in("."))
	}
	return errors.Join(durable.IgnoreMissing(err), v.state.RemoveAll(changesFolder+"/"+v.id))
}

// setAside renames the vault so that it is no longer found as a change.
func (v vault) setAside(why string) error {
	aside := fmt.Sprintf("%s/%s.%s-%d", changesFolder, v.id, why, time.Now().UnixNano())
	if err := v.state.Rename(changesFolder+"/"+v.id, aside); err != nil {
		return errors.Join(ErrJournalLeft, err)
	}
	return durable.SyncDir(v.state, changesFolder)
}

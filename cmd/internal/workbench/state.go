package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/candor-mcp/candor/internal/durable"
)

// stateVersion is the version that this program reads and writes. Unknown members of a file are ignored, so a later
// program may add members without a new version.
const stateVersion = 1

const maxStateFile = 1 << 20

// State is a folder of small JSON files that survives restart, upgrade and kill -9. It is safe for concurrent use by goroutines and
// processes: each file is replaced atomically.
type State struct {
	dir  string
	root *os.Root
}

// OpenState opens a state folder and creates it if necessary.
func OpenState(dir string) (*State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening state folder: %w", err)
	}
	return openState(dir, (*State).stamp)
}

// OpenStateReadOnly opens an existing state folder and writes nothing.
func OpenStateReadOnly(dir string) (*State, error) {
	return openState(dir, func(s *State) error {
		_, err := s.checkVersion()
		return err
	})
}

func openState(dir string, check func(*State) error) (*State, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening state folder: %w", err)
	}
	s := &State{dir: dir, root: root}
	if err := check(s); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

type stateStamp struct {
	Version int `json:"version"`
}

// stamp writes the version into a new folder. It fails if the folder has a later version.
func (s *State) stamp() error {
	ok, err := s.checkVersion()
	if err == nil && !ok {
		err = s.Save("version.json", stateStamp{stateVersion})
	}
	return err
}

// checkVersion reports whether the folder has a version. It returns an error if the version is later than stateVersion.
func (s *State) checkVersion() (found bool, err error) {
	var stamp stateStamp
	if found, err = s.Load("version.json", &stamp); err == nil && stamp.Version > stateVersion {
		err = fmt.Errorf("state folder: version %d, want at most %d (hint: use the newer program, or another --state folder)",
			stamp.Version, stateVersion)
	}
	return found, err
}

// Root returns the open folder.
func (s *State) Root() *os.Root { return s.root }

// Dir returns the path of the folder.
func (s *State) Dir() string { return s.dir }

// Folder opens a folder below the state folder and creates it if necessary. The caller closes it.
func (s *State) Folder(name string) (*os.Root, error) {
	if err := s.root.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	return s.root.OpenRoot(name)
}

// Save writes v as JSON to a file and syncs it.
func (s *State) Save(name string, v any) error { return SaveJSON(s.root, name, v) }

// SaveJSON is [State.Save] for a folder below the state folder.
func SaveJSON(root *os.Root, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(root, name, append(data, '\n'), 0o600)
}

// Load decodes a file into v. found is false if the file does not exist.
func (s *State) Load(name string, v any) (found bool, err error) {
	info, err := s.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Size() > maxStateFile || !info.Mode().IsRegular():
		return false, fmt.Errorf("state file %s: not a regular file, or larger than 1 MiB", name)
	}
	data, err := s.root.ReadFile(name)
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("reading state file %s: %w", name, err)
	}
	return true, nil
}

// Remove removes a file. It is not an error if the file does not exist.
func (s *State) Remove(name string) error {
	if err := s.root.Remove(name); err != nil {
		return durable.IgnoreMissing(err)
	}
	return durable.SyncDir(s.root, path.Dir(name))
}

// Close closes the folder.
func (s *State) Close() error { return s.root.Close() }

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

// stateVersion is what this program writes and understands. Members that it does not know are left alone when a file is read, so a
// later program may add some without a new version.
const stateVersion = 1

const maxStateFile = 1 << 20

// State is a folder of small files that survives restart, upgrade and kill -9. It is safe for concurrent use, also by several
// processes: each file is replaced as a whole.
type State struct {
	dir  string
	root *os.Root
}

// OpenState opens a state folder, which is made if it is not there.
func OpenState(dir string) (*State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the state folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the state folder: %w", err)
	}
	s := &State{dir: dir, root: root}
	if err := s.stamp(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// OpenStateReadOnly opens a state folder that exists. It writes nothing.
func OpenStateReadOnly(dir string) (*State, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the state folder: %w", err)
	}
	s := &State{dir: dir, root: root}
	if _, err := s.checkVersion(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

type stateStamp struct {
	Version int `json:"version"`
}

// stamp writes the version into a new folder, and refuses one that a later program has changed.
func (s *State) stamp() error {
	ok, err := s.checkVersion()
	if err == nil && !ok {
		err = s.Save("version.json", stateStamp{stateVersion})
	}
	return err
}

// checkVersion reports whether the folder has a version, and refuses one that a later program has changed.
func (s *State) checkVersion() (found bool, err error) {
	var stamp stateStamp
	if found, err = s.Load("version.json", &stamp); err == nil && stamp.Version > stateVersion {
		err = fmt.Errorf("the state folder is of version %d and this program knows %d (hint: use the newer program, or another --state folder)",
			stamp.Version, stateVersion)
	}
	return found, err
}

// Root returns the folder itself.
func (s *State) Root() *os.Root { return s.root }

// Dir returns its path.
func (s *State) Dir() string { return s.dir }

// Save replaces a file. When it returns without an error it is on the disk.
func (s *State) Save(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(s.root, name, append(data, '\n'), 0o600)
}

// Load reads a file; false if there is none.
func (s *State) Load(name string, v any) (found bool, err error) {
	info, err := s.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Size() > maxStateFile || !info.Mode().IsRegular():
		return false, fmt.Errorf("%s in the state folder is no file of ours", name)
	}
	data, err := s.root.ReadFile(name)
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("%s in the state folder: %w", name, err)
	}
	return true, nil
}

// Remove removes a file, and is content if there is none.
func (s *State) Remove(name string) error {
	err := s.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(s.root, path.Dir(name))
}

// Close gives the folder back.
func (s *State) Close() error { return s.root.Close() }

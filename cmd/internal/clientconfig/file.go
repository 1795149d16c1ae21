package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/candor-mcp/candor/internal/durable"
)

// maxFile bounds the size of a configuration file, and maxProject that of one that others may have written: the tree of
// a text can take 300 times its size, and much time.
const (
	maxFile    = 16 << 20
	maxProject = 256 << 10
)

// File is a configuration file that exists.
type File struct {
	Client  Client
	Path    string // as the client names it
	Project bool   // a file of the current folder, which may be shared with others
	Servers []Server
	// Err says why the file cannot be read. Then there are no servers.
	Err error

	within string // the folder that links of the file may not leave; "" for a file of the user
}

// Discover returns the files that exist, those of the user first.
func Discover(s System) []File {
	var found []File
	seen := map[string]bool{"": true}
	add := func(c Client, name string, project bool) {
		if seen[name] { // the home folder may be the current one
			return
		}
		seen[name] = true
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) || isBelowFile(err) {
			return
		}
		f := File{Client: c, Path: name, Project: project}
		if project {
			f.within = s.Folder
		}
		t, err := f.open()
		if f.Err = err; err == nil {
			f.Servers, f.Err = c.servedIn(t)
		}
		found = append(found, f)
	}
	for _, c := range Clients() {
		for _, name := range c.userFiles(s) {
			add(c, name, false)
		}
	}
	for _, c := range Clients() {
		for _, name := range c.projectFiles(s) {
			add(c, name, true)
		}
	}
	return found
}

// ReadFile reads a file that the user has named. It may be of any client, known or not.
func ReadFile(name string) File {
	f := File{Path: name}
	t, err := f.open()
	if err == nil {
		f.Client, err = anyClient(name, t.data)
	}
	if err == nil {
		f.Servers, err = f.Client.servedIn(t)
	}
	f.Err = err
	return f
}

func (c Client) servedIn(t *target) ([]Server, error) {
	config, err := Parse(c, t.data)
	if err != nil {
		return nil, err
	}
	config.findBroken()
	return config.Servers, nil
}

// Name returns the client and the path, for people. A file that the user has named has only the path.
func (f File) Name() string {
	if f.Client.Title == "" {
		return f.Path
	}
	return f.Client.Title + ", " + f.Path
}

// target is the file behind a name, after symbolic links, and its content. info is nil if the file, which has a hook, does not exist yet.
type target struct {
	dir, base string
	info      fs.FileInfo
	data      []byte
}

func (t *target) path() string { return filepath.Join(t.dir, t.base) }

// open reads the file. It is opened once, and its links are followed before.
func (f File) open() (*target, error) {
	real, err := filepath.EvalSymlinks(f.Path)
	if _, lstatErr := os.Lstat(f.Path); lstatErr == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("a link to a file that does not exist: %w", plainError(err))
	}
	if h := f.Client.hook; h != nil && errors.Is(err, fs.ErrNotExist) {
		return &target{dir: filepath.Dir(f.Path), base: filepath.Base(f.Path), data: []byte(h.file)}, nil
	}
	if err != nil {
		return nil, plainError(err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	if !f.keepsWithin(real) {
		return nil, errors.New("a link out of the folder of the project")
	}
	limit := int64(maxFile)
	if f.Project {
		limit = maxProject
	}
	data, info, err := durable.ReadFile(real, limit)
	switch {
	case info != nil && info.IsDir():
		return nil, errors.New("is a folder")
	case err != nil:
		return nil, plainError(err)
	}
	return &target{dir: filepath.Dir(real), base: filepath.Base(real), info: info, data: data}, nil
}

// keepsWithin reports whether the file behind all links is in the folder of the project.
func (f File) keepsWithin(real string) bool {
	if f.within == "" {
		return true
	}
	folder, err := filepath.EvalSymlinks(f.within)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(folder, real)
	return err == nil && filepath.IsLocal(rel)
}

// isBelowFile reports whether a path goes through something that is not a folder, so that the file cannot exist.
func isBelowFile(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// plainError returns the cause of an error without the path, which the caller prints.
func plainError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// checkWritable refuses a file that a rename would take away from its owner's intent: read-only, or with several names.
func (t *target) checkWritable() error {
	if t.info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%s is read-only", t.path())
	}
	if n := hardLinks(t.info); n > 1 {
		return fmt.Errorf("%s has %d hard links, which replacing the file would separate", t.path(), n)
	}
	return nil
}

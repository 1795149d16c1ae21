// Package workspace confines file access to a folder: every name is checked before it is used, every file is opened
// through [os.Root], and opened files are checked again before they are used.
//
// The package follows these rules:
//
//   - a path comes from [Folder.Parse], so it is relative, clean and does not contain "..";
//   - reads follow symbolic links that stay inside, writes do not follow links;
//   - checks made before an open are repeated after it: another process may swap files and folders at any moment;
//   - files are replaced as a whole, and a [Journal] in the state folder records how to undo the change, so that [Recover]
//     can repair a crash at any point;
//   - messages name paths relative to the workspace and never quote content.
//
// Mounts below the folder belong to it, as in os.Root: mounting needs privileges.
package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/durable"
)

// DefaultMaxFile is the default of [Options].MaxFile.
const DefaultMaxFile = 8 << 20

// Options configures a [Folder]. The zero value has the strictest rules for reading and allows writing.
type Options struct {
	ReadOnly bool  // every change is refused
	MaxFile  int64 // maximum size of a file in bytes; 0 means [DefaultMaxFile]
}

// Folder is an open workspace. It is safe for concurrent use.
type Folder struct {
	root    *os.Root
	path    string // canonical
	given   string // as given by the caller, cleaned
	self    fs.FileInfo
	options Options
	escapes error // the error of os.Root for a path that escapes; the standard library does not export it

	testHook func(step string) // called at each step of a change, so that tests can interfere there
}

// Open opens the folder at an absolute path. The error is BOOTSTRAP_FAILURE if the path is relative, missing or not a
// folder; the message gives the reason. Open resolves symbolic links in the path once.
func Open(path string, o Options) (*Folder, error) {
	if !filepath.IsAbs(path) {
		return nil, bootstrap("The workspace must be given as an absolute path.", nil)
	}
	canonical, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, bootstrap("The workspace does not exist.", err)
	case err != nil:
		return nil, bootstrap("The workspace could not be resolved.", err)
	}
	if info, err := os.Stat(canonical); err != nil || !info.IsDir() {
		return nil, bootstrap("The workspace is not a folder.", err)
	}
	root, err := os.OpenRoot(canonical)
	if err != nil {
		return nil, bootstrap("The workspace could not be opened.", err)
	}
	if o.MaxFile <= 0 {
		o.MaxFile = DefaultMaxFile
	}
	f := &Folder{root: root, path: canonical, given: filepath.Clean(path), options: o, testHook: func(string) {}}
	if f.self, err = root.Stat("."); err != nil {
		return nil, errors.Join(bootstrap("The workspace could not be opened.", err), root.Close())
	}
	_, err = root.Lstat("..")
	if refused := (*fs.PathError)(nil); errors.As(err, &refused) {
		f.escapes = refused.Err
	}
	if err := f.StillThere(); err != nil { // swapped between EvalSymlinks and open
		return nil, errors.Join(bootstrap("The workspace was replaced while it was being opened.", err), root.Close())
	}
	return f, nil
}

// Root returns the canonical absolute path of the folder. Error messages do not contain it.
func (f *Folder) Root() string { return f.path }

// ReadOnly reports whether every change is refused.
func (f *Folder) ReadOnly() bool { return f.options.ReadOnly }

// Close closes the folder. It must not be used afterwards.
func (f *Folder) Close() error { return f.root.Close() }

// StillThere checks that the path still refers to the folder that was opened. If the folder was moved, replaced or
// removed, the error is INVARIANT_VIOLATION with INV_WORKSPACE_IDENTITY, because reads and writes would go to another
// folder.
func (f *Folder) StillThere() error {
	now, err := os.Lstat(f.path)
	if err == nil && os.SameFile(f.self, now) {
		return nil
	}
	return InvariantViolation("INV_WORKSPACE_IDENTITY", "The folder of this workspace is not the one that was opened: it was moved, removed or replaced.",
		candor.WithCause(err), candor.WithSuggestion("Stop, inform the operator, and begin a session in the intended folder."))
}

// InvariantViolation returns the error of a broken invariant, named by id.
func InvariantViolation(id, message string, options ...candor.Option) *candor.Error {
	set := []candor.Option{candor.WithCallInfo(candor.CallInfo{InvariantID: id}), candor.WithOrigin(candor.PartyServer, false)}
	return candor.New(kaiza.InvariantViolation, message, append(set, options...)...)
}

func bootstrap(message string, cause error) error {
	return candor.New(kaiza.BootstrapFailure, message, candor.WithCause(cause))
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir *os.Root) error { return durable.SyncDir(dir, ".") }

// Package workspace is a folder that nothing gets out of: every name is checked before it is used, every file is opened through
// [os.Root], and what was opened is looked at again before it is trusted.
//
// Rules of the room:
//
//   - a path comes from [Folder.Parse], so it is relative, clean and has no ".." in it;
//   - reads follow symbolic links that stay inside, writes follow none;
//   - nothing learnt before an open is believed after it: another process may swap files and folders at any moment;
//   - files are replaced as a whole, and a [Journal] in the state folder says how to go back, so that a crash at any point can be put
//     right by [Recover];
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
)

// DefaultMaxFile is the largest file that is read or written unless [Options] say otherwise.
const DefaultMaxFile = 8 << 20

// Options says how strict a [Folder] is. The zero value is the strict one, with writing allowed.
type Options struct {
	AllowHardLinks bool  // a file with a second name may be read; by default it is refused, because the other name may be outside
	ReadOnly       bool  // every change is refused
	MaxFile        int64 // bytes of one file; 0 is [DefaultMaxFile]
}

// Folder is an open workspace. It is safe for use by several goroutines. Close gives back what it holds.
type Folder struct {
	root    *os.Root
	path    string // canonical
	given   string // as the caller spelt it, cleaned
	self    fs.FileInfo
	options Options
	escapes error // what os.Root answers to a path that leaves it; the standard library does not export it

	ours bool // only for undoing: a file is recognised by its content, with a second name or without a mode that lets it be read

	testHook func(step string) // called at each step of a change, so that tests can kill, swap and fail there
}

// Open opens the folder at an absolute path. A path that is relative, missing or not a folder is BOOTSTRAP_FAILURE, and the message
// says which. Symbolic links in the path are resolved once, here.
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
	if err := f.StillThere(); err != nil { // swapped between the resolving and the opening
		return nil, errors.Join(bootstrap("The workspace was replaced while it was being opened.", err), root.Close())
	}
	return f, nil
}

// own returns the folder for undoing a change. What is read is only compared with the hashes of that change, and a file is replaced under its
// name and never written through it, so that a second name neither learns nor loses anything.
func (f *Folder) own() *Folder {
	g := *f
	g.ours = true
	return &g
}

// Root is the canonical absolute path of the folder. It is for the session's own eyes: no error message holds it.
func (f *Folder) Root() string { return f.path }

// ReadOnly says whether every change is refused.
func (f *Folder) ReadOnly() bool { return f.options.ReadOnly }

// Close gives back the folder. Nothing may be asked of it afterwards.
func (f *Folder) Close() error { return f.root.Close() }

// StillThere checks that the folder at the path is still the one that was opened. If it was moved away, replaced or removed the answer
// is an INVARIANT_VIOLATION named INV_WORKSPACE_IDENTITY: reads and writes would go to another folder.
func (f *Folder) StillThere() error {
	now, err := os.Lstat(f.path)
	if err == nil && os.SameFile(f.self, now) {
		return nil
	}
	return candor.InvariantViolation("INV_WORKSPACE_IDENTITY", "The folder of this workspace is not the one that was opened: it was moved, removed or replaced.",
		candor.WithCause(err), candor.WithSuggestion("Stop, inform the operator, and begin a session in the intended folder."))
}

func bootstrap(message string, cause error) error {
	return candor.New(kaiza.BootstrapFailure, message, candor.WithCause(cause))
}

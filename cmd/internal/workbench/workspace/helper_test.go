package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// secret is the content of a file outside; it must never be returned.
const secret = "the secret outside"

// bench is a workspace next to an outside folder that must not be read or changed.
type bench struct {
	t       *testing.T
	folder  *Folder
	state   *os.Root
	in, out string
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	return newBenchIn(t, inMemory(t), o)
}

// inMemory returns a folder in memory if the system has one: the tests sync thousands of times and do not simulate power
// loss.
func inMemory(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("/dev/shm", "candor-workspace-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	return top
}

func newBenchIn(t *testing.T, top string, o Options) *bench {
	t.Helper()
	b := &bench{t: t, in: filepath.Join(top, "proj"), out: filepath.Join(top, "outside")}
	for _, dir := range []string{b.in, b.out, filepath.Join(top, "state")} {
		b.must(os.Mkdir(dir, 0o755))
	}
	b.must(os.WriteFile(filepath.Join(b.out, "secret.txt"), []byte(secret), 0o644))
	var err error
	b.folder, err = Open(b.in, o)
	b.must(err)
	t.Cleanup(func() { _ = b.folder.Close() })
	b.state, err = os.OpenRoot(filepath.Join(top, "state"))
	b.must(err)
	t.Cleanup(func() { _ = b.state.Close() })
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// put writes a file of the workspace directly, without the Folder.
func (b *bench) put(name, text string) {
	b.t.Helper()
	full := filepath.Join(b.in, name)
	b.must(os.MkdirAll(filepath.Dir(full), 0o755))
	b.must(os.WriteFile(full, []byte(text), 0o644))
}

func (b *bench) symlink(to, name string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(filepath.Join(b.in, name)), 0o755))
	b.must(os.Symlink(to, filepath.Join(b.in, name)))
}

// text returns the content of a file of the workspace, or "-" if it does not exist.
func (b *bench) text(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.in, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	b.must(err)
	return string(data)
}

func (b *bench) path(name string) Path {
	b.t.Helper()
	p, err := b.folder.Parse(name)
	b.must(err)
	return p
}

func (b *bench) read(name string) *File {
	b.t.Helper()
	file, err := b.folder.Read(b.path(name))
	b.must(err)
	return &file
}

func (b *bench) stage(id string, changes ...Change) *Staged {
	b.t.Helper()
	s, err := b.folder.Stage(b.state, id, changes, nil)
	b.must(err)
	return s
}

// refuses checks the code of an error, and that its message does not contain the secret or paths of the machine.
func (b *bench) refuses(err error, code candor.Code) {
	b.t.Helper()
	if candor.CodeOf(err) != code {
		b.t.Fatalf("got %v, want %v", err, code)
	}
	var e *candor.Error
	if !errors.As(err, &e) || e.Validate() != nil || candor.CheckSuggestion(e.Retry(), e.Suggestion()) != nil {
		b.t.Errorf("%v is not a sound error", err)
	}
	if text, _ := e.MarshalJSON(); strings.Contains(string(text), b.in) || strings.Contains(string(text), b.out) || strings.Contains(string(text), secret) {
		b.t.Errorf("says too much: %s", text)
	}
}

// clean checks that the outside is unchanged and that there are no temporary files or journals.
func (b *bench) clean() {
	b.t.Helper()
	b.noTemps()
	if names, _ := fs.Glob(b.state.FS(), changesFolder+"/*"); len(names) > 0 {
		b.t.Errorf("left in the state folder: %v", names)
	}
}

func (b *bench) noTemps() {
	b.t.Helper()
	b.must(filepath.WalkDir(filepath.Dir(b.in), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			b.t.Errorf("left behind: %s", path)
		}
		return err
	}))
	names, err := os.ReadDir(b.out)
	b.must(err)
	if data, err := os.ReadFile(filepath.Join(b.out, "secret.txt")); len(names) != 1 || err != nil || string(data) != secret {
		b.t.Errorf("the outside was touched: %v, %q, %v", names, data, err)
	}
}

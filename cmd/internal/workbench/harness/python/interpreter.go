package python

import (
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	folders "github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// interpreter is a Python interpreter that was found.
type interpreter struct {
	Executable string `json:"executable"` // the binary itself, not a shim
	Library    string `json:"library"`    // directory of its standard library
	Version    string `json:"version"`
	Recent     bool   `json:"recent"` // it has all features that the policy needs
}

// describe is a program that prints the interpreter as JSON.
const describe = `import json, os, sys
print(json.dumps({"executable": os.path.realpath(sys.executable), "library": os.path.dirname(os.__file__),
"version": "%d.%d.%d" % sys.version_info[:3], "recent": sys.version_info >= (3, 8)}))`

// findTimeout is the maximum time for running describe.
const findTimeout = 20 * time.Second

const installAdvice = "install Python 3.8 or later (package python3), or set MCP_PYTHON_PATH"

// isolated lists the options of every run: no environment variables, no user or site packages, no bytecode files, UTF-8
// everywhere.
var isolated = []string{"-I", "-S", "-B", "-X", "utf8"}

// interpreterCache remembers the interpreter once it has been found.
type interpreterCache struct {
	mu    sync.Mutex
	found *interpreter
}

// find returns the interpreter. A failure is not cached, because Python may be installed while the server runs.
func (i *interpreterCache) find(ctx context.Context, c Config) (*interpreter, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil {
		if _, err := os.Stat(i.found.Executable); err == nil {
			return i.found, nil
		}
		i.found = nil
	}
	path, err := locate(c)
	if err != nil {
		return nil, domain.Fail(common.NotInstalled, "python3 was not found: "+installAdvice, err)
	}
	found, err := ask(ctx, path, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, errInterrupted) {
			return nil, domain.Fail(candor.CodeUnavailable, "python3 could not be started now; nothing was run", err)
		}
		return nil, domain.Fail(common.NotInstalled, "python3 does not work: "+installAdvice, err)
	}
	if !found.Recent {
		return nil, domain.Fail(common.NotInstalled, "Python "+found.Version+" is too old: "+installAdvice, nil)
	}
	if slices.ContainsFunc(c.Private, func(private string) bool {
		return slices.ContainsFunc(found.readable(), func(open string) bool { return folders.Inside(private, open) })
	}) {
		return nil, domain.Fail(common.Unsupported, "the state folder is inside of a folder that Python has to read: choose another one with --state or --ledger", nil,
			candor.WithSuggestion("Ask the operator, and continue without Python."))
	}
	i.found = found
	return found, nil
}

// errInterrupted is the error of an interpreter that could not be started, or was stopped: it may work next time.
var errInterrupted = errors.New("determining the Python version was interrupted")

// locate returns the path of the presumed interpreter. It does not take one in the working directory.
func locate(c Config) (string, error) { return exec.LookPath(cmp.Or(c.Path, "python3")) }

// ask runs describe with the program at path. The program gets this process's environment, because it may be a shim
// that looks for the real interpreter.
func ask(ctx context.Context, path string, c Config) (*interpreter, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	p := process{
		line: append(append([]string{path}, isolated...), "-c", describe), dir: os.TempDir(), env: os.Environ(),
		guard: guard.Options{Self: c.Guard}, keep: 16 << 10,
	}
	done, err := p.run(ctx)
	if err != nil {
		return nil, errors.Join(errInterrupted, err)
	}
	if done.stopped != "" || done.end.Signal != 0 {
		return nil, fmt.Errorf("%w: %v", errInterrupted, done.end)
	}
	if done.end != (guard.End{}) {
		return nil, fmt.Errorf("determining the Python version: %v %s", done.end, done.stderr.text())
	}
	var found interpreter
	if err := json.Unmarshal([]byte(done.stdout.text()), &found); err != nil {
		return nil, fmt.Errorf("determining the Python version: %w", err)
	}
	if !filepath.IsAbs(found.Executable) || !filepath.IsAbs(found.Library) {
		return nil, errors.New("determining the Python version: its paths are not absolute")
	}
	return &found, nil
}

// readable returns the files that a run needs besides its own. The folder that contains the standard library also has
// the interpreter's shared libraries.
func (i *interpreter) readable() []string {
	return []string{
		i.Executable, filepath.Dir(i.Library), "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache",
		"/etc/localtime", "/dev/null", "/dev/urandom",
	}
}

// executable returns the interpreter and the dynamic loader that it names, which the kernel executes too.
func (i *interpreter) executable() []string {
	paths := []string{i.Executable}
	file, err := elf.Open(i.Executable)
	if err != nil {
		return paths
	}
	defer func() { _ = file.Close() }()
	if s := file.Section(".interp"); s != nil {
		name, _ := s.Data()
		paths = append(paths, strings.TrimRight(string(name), "\x00"))
	}
	return paths
}

// health looks for the interpreter without starting it.
func (r *runner) health(context.Context) domain.Health {
	if err := r.confinable(); err != nil {
		return domain.Health{Details: unconfinable}
	}
	if _, err := locate(r.config); err != nil {
		return domain.Health{Details: "python3 was not found: " + installAdvice}
	}
	return domain.Health{OK: true}
}

const unconfinable = "this system cannot confine Python (Linux with Landlock and seccomp can); MCP_PYTHON_CONFINE=auto runs code with less protection"

// confinable returns an error if runs must be confined and cannot be.
func (r *runner) confinable() error {
	if r.config.Confine == ConfineRequire && !r.confined() {
		return domain.Fail(common.Unsupported, unconfinable, nil, candor.WithSuggestion("Ask the operator, and continue without Python."))
	}
	return nil
}

// confined reports whether runs are confined in every respect.
func (r *runner) confined() bool {
	files, calls := guard.Confinable()
	return files && calls && len(r.config.Guard) > 0
}

package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// interpreter is a Python interpreter that was found.
type interpreter struct {
	Executable string `json:"executable"` // the binary itself, not a shim
	Prefix     string `json:"prefix"`     // directory of its installation
	Library    string `json:"library"`    // directory of its standard library
	Version    string `json:"version"`
	Recent     bool   `json:"recent"` // it has all features that the policy needs
}

// describe is a program that prints the interpreter as JSON.
const describe = `import json, os, sys
print(json.dumps({"executable": os.path.realpath(sys.executable), "prefix": sys.base_prefix, "library": os.path.dirname(os.__file__),
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
		return nil, domain.Fail(common.NotInstalled, "python3 does not work: "+installAdvice, err)
	}
	if !found.Recent {
		return nil, domain.Fail(common.NotInstalled, "Python "+found.Version+" is too old: "+installAdvice, nil)
	}
	i.found = found
	return found, nil
}

// locate returns the path of the presumed interpreter.
func locate(c Config) (string, error) {
	candidates := []string{c.Path}
	if c.Path == "" {
		candidates = nil
		for _, dir := range filepath.SplitList(variable(c.Environ, "PATH")) {
			if filepath.IsAbs(dir) { // a program in the working directory is not trusted
				candidates = append(candidates, filepath.Join(dir, "python3"))
			}
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

func variable(environ []string, name string) string {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// ask runs describe with the program at path. The program gets this process's environment, because it may be a shim
// that looks for the real interpreter.
func ask(ctx context.Context, path string, c Config) (*interpreter, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	p := process{
		line: append(append([]string{path}, isolated...), "-c", describe), dir: os.TempDir(), env: c.Environ,
		guard: guard.Options{Self: c.Guard}, keep: 16 << 10,
	}
	done, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if done.stopped != "" || done.end != (guard.End{}) {
		return nil, fmt.Errorf("determining the Python version: %v %s", done.end, done.stderr.text())
	}
	var found interpreter
	if err := json.Unmarshal([]byte(done.stdout.text()), &found); err != nil {
		return nil, fmt.Errorf("determining the Python version: %w", err)
	}
	if !filepath.IsAbs(found.Executable) || !filepath.IsAbs(found.Prefix) || !filepath.IsAbs(found.Library) {
		return nil, errors.New("determining the Python version: its paths are not absolute")
	}
	return &found, nil
}

// readable returns the files that a run needs besides its own.
func (i *interpreter) readable() []string {
	return []string{
		i.Executable, i.Prefix, i.Library, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache",
		"/etc/localtime", "/dev/null", "/dev/urandom",
	}
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
		return domain.Fail(common.Unsupported, unconfinable, nil)
	}
	return nil
}

// confined reports whether runs are confined in every respect.
func (r *runner) confined() bool {
	files, calls := guard.Confinable()
	return files && calls && len(r.config.Guard) > 0
}

type versionResult struct {
	Version string      `json:"version"`
	Limits  limits      `json:"limits"`
	Confine confinement `json:"confined"`
}

type limits struct {
	TimeoutMs    int64 `json:"timeoutMs"`
	MaxTimeoutMs int64 `json:"maxTimeoutMs"`
	MemoryBytes  int64 `json:"memoryBytes"`
	OutputBytes  int   `json:"outputBytes"`
	Parallel     int   `json:"parallel"`
}

// confinement lists the restrictions that the system enforces, besides the policy.
type confinement struct {
	Files   bool `json:"files"`   // only files of the interpreter and of the call
	Network bool `json:"network"` // no network
	Process bool `json:"process"` // no other processes
	Limits  bool `json:"limits"`  // memory and file size
}

func (r *runner) version(ctx context.Context, _ struct{}) (*versionResult, error) {
	python, err := r.interpreter.find(ctx, r.config)
	if err != nil {
		return nil, err
	}
	files, calls := guard.Confinable()
	guarded := len(r.config.Guard) > 0
	c := r.config
	return &versionResult{
		Version: python.Version,
		Limits: limits{
			TimeoutMs: c.Timeout.Milliseconds(), MaxTimeoutMs: c.MaxTimeout.Milliseconds(), MemoryBytes: c.Memory, OutputBytes: c.Output, Parallel: c.Parallel,
		},
		Confine: confinement{Files: files && guarded, Network: calls && guarded, Process: calls && guarded, Limits: guarded && guard.Limitable},
	}, nil
}

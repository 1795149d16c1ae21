// Package python is the harness domain that runs Python code with the interpreter of the system.
//
// Code passes three lines of defence. First, a policy checks its syntax tree before anything runs and refuses imports
// and names outside of a list; it helps honest callers and is not a sandbox, because Python offers too many ways around
// it. Second, the process is confined, see [guard.Confinement]: it cannot open sockets, start or signal processes, or
// use files other than those of the interpreter and its private directory. Third, time, memory, file size, directory
// size and output are limited, and no process outlives the call or the server.
package python

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/scratch"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	commoncode "github.com/candor-mcp/candor/codes/common"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
	memorybankcode "github.com/candor-mcp/candor/codes/memorybank"
	pythoncode "github.com/candor-mcp/candor/codes/python"
)

// Name is the name of the domain.
const Name = "python"

// MaxCode is the maximum number of characters in the code of one call.
const MaxCode = 2000

const (
	maxArgs      = 32
	maxArgsBytes = 8 << 10
)

//go:embed check.py
var checkProgram string

//go:embed run.py
var runProgram string

// runner implements the methods of the domain.
type runner struct {
	config      Config
	interpreter interpreterCache
	slots       chan struct{} // one element for each running call
	waiting     chan struct{} // one element for each running or waiting call
	sweep       sync.Once     // removes directories left by killed processes
	removals    sync.WaitGroup
}

// Open returns the domain for the MCP_PYTHON_* variables.
func Open(env domain.Environment) (domain.Domain, error) {
	c, err := ConfigFromEnv(env)
	return New(c), err
}

// New returns the domain. It starts nothing: the interpreter is found when it is first needed.
func New(c Config) domain.Domain {
	c = c.withDefaults()
	r := &runner{config: c, slots: make(chan struct{}, c.Parallel), waiting: make(chan struct{}, c.Parallel+c.Queue)}
	return domain.Domain{
		Name:    Name,
		About:   "Run short Python programs and the scripts of the operator, confined and with limits.",
		Methods: r.methods(),
		Health:  r.health,
		Close: func() error {
			r.removals.Wait()
			return nil
		},
	}
}

func (r *runner) methods() []domain.Method {
	running := []candor.Code{
		pythoncode.ExecFail, pythoncode.Security, pythoncode.Timeout, pythoncode.InvalidParams,
		commoncode.InvalidParams, filesystemcode.PathEscape, filesystemcode.Denied, filesystemcode.NotFound, memorybankcode.FileNotFound, memorybankcode.Read,
		commoncode.NotInstalled, commoncode.Unsupported, commoncode.LimitExceeded, commoncode.InputTooLarge,
		candor.CodeUnavailable,
	}
	harmless := r.confined() // confined code has no lasting effects
	const common = `"files": {"type": "array", "maxItems": 16, "items": {"type": "string"}, "description": "Files of other domains, such as fs/data.csv or mb/notes.md. The code finds their contents in the dictionary files, as str, or bytes if they are not UTF-8."},
		"args": {"type": "array", "items": {"type": "string"}, "description": "Arguments, in sys.argv[1:]."},
		"timeoutMs": {"type": "integer", "minimum": 1, "description": "Time limit in milliseconds."}`
	return []domain.Method{
		{
			Name: "py/run", About: "Run Python code and return what it prints. The standard library is available as far as the policy allows; there is no network, and files that it writes vanish with the call. print the result; open is not available, files has what it is given.",
			Input:    `{"code": {"type": "string", "description": "Python 3 source, at most 2000 characters."}, ` + common + `}`,
			Required: []string{"code"}, Codes: running, ReadOnly: harmless, Idempotent: harmless, Run: domain.Bind(r.run),
		},
		{
			Name: "py/script", About: "Run one of the scripts that py/scripts lists and return what it prints.",
			Input:    `{"name": {"type": "string", "description": "Name of the script, as py/scripts lists it."}, ` + common + `}`,
			Required: []string{"name"}, Codes: append([]candor.Code{pythoncode.ScriptNotFound}, running...),
			ReadOnly: harmless, Idempotent: harmless, Run: domain.Bind(r.script),
		},
		{
			Name: "py/scripts", About: "List the scripts that py/script can run.", Input: `{}`,
			ReadOnly: true, Idempotent: true, Run: domain.Bind(r.scripts),
		},
	}
}

type runParams struct {
	Code string `json:"code"`
	given
}

// given holds the parameters that all runs share.
type given struct {
	Args      []string `json:"args"`
	Files     []string `json:"files"`
	TimeoutMs int64    `json:"timeoutMs"`
}

// Result is the result of a run that succeeded.
type Result struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"` // the middle of an output was omitted
	DurationMs int64  `json:"durationMs"`
}

func (r *runner) run(ctx context.Context, in runParams) (*Result, error) {
	if n := utf8.RuneCountInString(in.Code); n > MaxCode {
		return nil, tooLarge("code has %d characters, the limit is %d", n, MaxCode)
	}
	if strings.TrimSpace(in.Code) == "" {
		return nil, domain.Fail(pythoncode.InvalidParams, "code is empty", nil)
	}
	return r.execute(ctx, source{name: "code", text: in.Code}, in.given)
}

// execute checks the parameters that all runs share, applies the policy and runs the source.
func (r *runner) execute(ctx context.Context, s source, in given) (*Result, error) {
	limit := r.config.Timeout
	if in.TimeoutMs > 0 {
		limit = time.Duration(min(in.TimeoutMs, int64(time.Hour/time.Millisecond))) * time.Millisecond
	}
	if limit > r.config.MaxTimeout {
		return nil, invalid("timeoutMs is larger than the limit of %d", r.config.MaxTimeout.Milliseconds())
	}
	if err := checkArgs(s, in.Args); err != nil {
		return nil, err
	}
	files, err := r.readFiles(in.Files)
	if err != nil {
		return nil, err
	}
	if err := r.confinable(); err != nil {
		return nil, err
	}
	release, err := r.admit(ctx)
	if err != nil {
		return nil, err
	}
	python, err := r.interpreter.find(ctx, r.config)
	if err != nil {
		release()
		return nil, err
	}
	r.sweep.Do(func() { scratch.Sweep(os.TempDir(), folderPrefix) })
	f, err := newFolder(s.text, files)
	if err != nil {
		release()
		return nil, err
	}
	defer r.discard(f.remove, release)
	if err := r.applyPolicy(ctx, python, f); err != nil {
		return nil, err
	}
	return r.runSource(ctx, python, f, s.name, in.Args, limit)
}

// removalGrace is how long an answer waits for the removal of the directory. Nearly all directories are removed sooner.
const removalGrace = 200 * time.Millisecond

// discard removes the directory of a run and releases its slot. The run's code determines how long that takes, so it
// may continue after the answer; the slot is held until then, and closing the domain waits for it.
func (r *runner) discard(remove, release func()) {
	done := make(chan struct{})
	r.removals.Go(func() {
		defer close(done)
		defer release()
		remove()
	})
	select {
	case <-done:
	case <-time.After(removalGrace):
	}
}

func checkArgs(s source, args []string) error {
	if strings.ContainsRune(s.text, 0) {
		return invalid("%s holds a NUL character", s.name)
	}
	total := 0
	for i, a := range args {
		if strings.ContainsRune(a, 0) {
			return invalid("args[%d] holds a NUL character", i)
		}
		total += len(a) + 1
	}
	if len(args) > maxArgs || total > maxArgsBytes {
		return tooLarge("args: %d with %d bytes, the limit is %d with %d bytes", len(args), total, maxArgs, maxArgsBytes)
	}
	return nil
}

// readFiles returns the files that a run is given, as JSON in the form of run.py: by name, as text or as base64 in a list.
func (r *runner) readFiles(names []string) ([]byte, error) {
	contents, left := map[string]any{}, domain.MaxGiven
	for _, name := range names {
		content, err := r.config.Read(name)
		if err != nil {
			return nil, err
		}
		if left -= len(content); left < 0 {
			return nil, tooLarge("files: together they have more than %d bytes", domain.MaxGiven)
		}
		if contents[name] = string(content); !utf8.Valid(content) {
			contents[name] = [][]byte{content}
		}
	}
	return json.Marshal(contents)
}

// admit waits for a slot. Calls beyond the queue are refused at once.
func (r *runner) admit(ctx context.Context) (release func(), err error) {
	select {
	case r.waiting <- struct{}{}:
	default:
		return nil, domain.Fail(commoncode.LimitExceeded, "too many Python runs are waiting", nil, candor.WithRetry(candor.RetryIn(time.Second)))
	}
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots; <-r.waiting }, nil
	case <-ctx.Done():
		<-r.waiting
		return nil, ctx.Err()
	}
}

// Package preflight runs the operator's commands in a workspace after a change, within limits of time, memory and output.
//
// A command is what the operator wrote and nothing else: no shell reads it, and no word of a peer is part of it. But it runs code
// that an agent has just changed, so it is treated as hostile: it gets no secrets of ours, and with [Options.Self] nothing that it starts
// outlives it, or us.
package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/redact"
)

// Command is one check.
type Command struct {
	Name    string        // for people
	Run     []string      // the command line; no shell reads it
	Timeout time.Duration // 0 is [DefaultTimeout]
	Memory  int64         // bytes: what its processes hold together, and what each may ask for; 0 is [DefaultMemory]
	Output  int           // bytes of output that are kept, the last ones; 0 is [DefaultOutput]
	Env     []string      // names of further variables that are passed on
}

// What a command gets that says nothing else, and the most that its output may ask for.
const (
	DefaultTimeout = time.Minute
	DefaultMemory  = 2 << 30
	DefaultOutput  = 64 << 10
	MaxOutput      = 1 << 20
)

// maxFile is how large a file a command may write.
const maxFile = 1 << 30

// tailInError is how much of the output an error carries.
const tailInError = 4 << 10

// Options say how commands are run.
type Options struct {
	// Self is the command line that runs [Guard], without its arguments. Empty, and outside of Linux, a process that leaves the group
	// of its command is not caught, those that it has started outlive us if we are killed, and the limit of memory is left to watching,
	// which is slower than a process that asks for all at once.
	Self []string

	// Hold are files that stay open until nothing of a command is left, even if we are killed: a lock on one of them keeps the next
	// one away from what a command may still be writing. It takes Self.
	Hold []*os.File
}

// Guard is what the program does whose command line is [Options.Self], with the arguments that follow it there. It returns the exit code
// for the process.
func Guard(args []string) int { return guard.Main(args) }

// Report is what the commands did, up to the first that failed.
type Report struct {
	Results []Result `json:"results"`
}

// Result is what one command did.
type Result struct {
	Name       string        `json:"name"`
	Exit       int           `json:"exit"`             // -1 if it ended by a signal or never began
	Signal     string        `json:"signal,omitempty"` // its name, such as "killed"
	Missing    bool          `json:"missing,omitempty"`
	TimedOut   bool          `json:"timed_out,omitempty"`
	OverMemory bool          `json:"over_memory,omitempty"`
	Duration   time.Duration `json:"duration_ns"`
	Output     string        `json:"output,omitempty"` // redacted; the end of it if it was long
}

// OK reports whether the command passed.
func (r Result) OK() bool {
	return r.Exit == 0 && r.Signal == "" && !r.Missing && !r.TimedOut && !r.OverMemory
}

// Run runs the commands one after the other in a folder and stops at the first that fails: the error is then PREFLIGHT_FAILED, and
// the report ends with that command. If ctx ends, what runs is killed and the error is that of ctx. When Run returns, nothing
// is left of any command, or nothing in its process group without [Options.Self].
func Run(ctx context.Context, dir string, cmds []Command, o Options) (Report, error) {
	var report Report
	for _, c := range cmds {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		result := c.run(ctx, dir, o)
		report.Results = append(report.Results, result)
		if err := ctx.Err(); err != nil && !result.OK() {
			return report, err
		}
		if !result.OK() {
			return report, c.failed(result)
		}
	}
	return report, nil
}

// Lookup reports every command that cannot be found, for the check at start-up.
func Lookup(cmds []Command) error {
	var all []error
	for _, c := range cmds {
		if _, err := c.path(); err != nil {
			all = append(all, fmt.Errorf("looking for the preflight command %q: %w (hint: install it, or give its full path)", c.Name, err))
		}
	}
	return errors.Join(all...)
}

// path finds the program. A name with a slash must be absolute: one below the workspace would be for an agent to write.
func (c Command) path() (string, error) {
	if len(c.Run) == 0 || c.Run[0] == "" {
		return "", errors.New("the command line is empty")
	}
	if strings.ContainsRune(c.Run[0], filepath.Separator) && !filepath.IsAbs(c.Run[0]) {
		return "", errors.New("the path of the command is not absolute")
	}
	path, err := exec.LookPath(c.Run[0])
	if inner, ok := errors.AsType[*exec.Error](err); ok {
		return "", inner.Err
	}
	return path, err
}

// environment is the little that a command needs, and what the operator lists.
func (c Command) environment() []string {
	var env []string
	for _, name := range slices.Concat([]string{"PATH", "HOME", "LANG", "TMPDIR"}, c.Env) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (c Command) run(ctx context.Context, dir string, o Options) Result {
	result := Result{Name: c.Name, Exit: -1}
	path, err := c.path()
	if err != nil {
		result.Missing = true
		return result
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.Timeout, DefaultTimeout), errTimeout)
	defer cancel()
	begin := time.Now()
	out := &tail{most: min(cmp.Or(c.Output, DefaultOutput), MaxOutput)}
	memory := cmp.Or(c.Memory, DefaultMemory)
	end, over, err := (&process{
		line: append([]string{path}, c.Run[1:]...), dir: dir, env: c.environment(), out: out, memory: memory,
		guard: guard.Options{Self: o.Self, Hold: o.Hold, Limits: guard.Limits{Data: memory, File: maxFile}},
	}).live(ctx)
	result.Duration, result.Output = time.Since(begin), out.String()
	if err != nil {
		result.Missing = true
		return result
	}
	result.OverMemory, result.TimedOut = over, !over && errors.Is(context.Cause(ctx), errTimeout) && end != (guard.End{})
	if result.Exit = end.Code; end.Signal != 0 {
		result.Exit, result.Signal = -1, end.Signal.String()
	}
	return result
}

var errTimeout = errors.New("the time of the command is up")

// failed is PREFLIGHT_FAILED.
func (c Command) failed(r Result) error {
	details := map[string]any{"command": redact.Text(r.Name)}
	why := ""
	switch {
	case r.Missing:
		why = "could not be started"
	case r.TimedOut:
		why = fmt.Sprintf("took longer than %s", cmp.Or(c.Timeout, DefaultTimeout))
	case r.OverMemory:
		why = fmt.Sprintf("used more memory than %d MiB", max(1, cmp.Or(c.Memory, DefaultMemory)>>20))
	case r.Signal != "":
		why, details["signal"] = "was ended by a signal", r.Signal
	default:
		why, details["exit"] = fmt.Sprintf("ended with exit code %d", r.Exit), r.Exit
	}
	details["reason"] = why
	if r.Output != "" {
		lines := strings.Split(strings.TrimSuffix(last(r.Output, tailInError), "\n"), "\n") // one text of an error is bounded, and would lose its end
		details["output"] = lines[max(0, len(lines)-candor.MaxItems):]
	}
	return candor.New(kaiza.PreflightFailed, fmt.Sprintf("The check %q %s.", r.Name, why), candor.WithDetails(details))
}

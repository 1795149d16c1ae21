// Package preflight runs the operator's commands in a workspace after a change, within limits of time, memory and
// output.
//
// A command is exactly the command line that the operator wrote: it is not passed to a shell, and clients cannot add to
// it. But it runs code that an agent has just changed, so it is treated as hostile: it does not get the server's
// secrets, and with [Options.Self] its processes are killed when it ends or when the server ends.
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
	"github.com/candor-mcp/candor/internal/tail"
)

// Command is one check.
type Command struct {
	Name    string        // for messages
	Run     []string      // the command line, not passed to a shell
	Timeout time.Duration // 0 means [DefaultTimeout]
	Memory  int64         // limit in bytes, for all processes together and for each; 0 means [DefaultMemory]
	Env     []string      // names of additional variables to pass
}

// Defaults of a command.
const (
	DefaultTimeout = time.Minute
	DefaultMemory  = 2 << 30
)

// maxFile is the maximum size of a file that a command may write.
const maxFile = 1 << 30

// Options configures how commands are run.
type Options struct {
	// Self is the command line that runs [guard.Main], without its arguments. If it is empty, and on systems other than
	// Linux, processes that leave the process group of their command are not killed, processes survive if the server is
	// killed, and the memory limit is enforced by polling, which may be too slow for a process that allocates
	// everything at once.
	Self []string

	// Hold lists files that stay open until all processes of a command have ended, even if the server is killed. A lock
	// on one of them keeps other processes away from files that a command may still be writing. It requires Self.
	Hold []*os.File
}

// Result is the result of one command.
type Result struct {
	Exit       int    // -1 if it was ended by a signal or could not be started
	Signal     string // its name, such as "killed"
	Missing    bool
	TimedOut   bool
	OverMemory bool
	Output     string // the end of it, redacted
}

// OK reports whether the command passed.
func (r Result) OK() bool {
	return r.Exit == 0 && r.Signal == "" && !r.Missing && !r.TimedOut && !r.OverMemory
}

// Run runs the commands one after the other in a folder and stops at the first that fails. The error is then
// PREFLIGHT_FAILED and the last result is that of this command. If ctx ends, the running command is killed and the
// error is that of ctx. When Run returns, all processes of the commands have ended; without [Options.Self] this covers
// only those in the process groups of the commands.
func Run(ctx context.Context, dir string, cmds []Command, o Options) (results []Result, err error) {
	for _, c := range cmds {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		r := c.run(ctx, dir, o)
		results = append(results, r)
		if !r.OK() {
			return results, cmp.Or(ctx.Err(), c.failed(r))
		}
	}
	return results, nil
}

// Lookup returns an error that names every command that cannot be found, for the check at startup.
func Lookup(cmds []Command) error {
	var all []error
	for _, c := range cmds {
		if _, err := c.path(); err != nil {
			all = append(all, fmt.Errorf("looking for the preflight command %q: %w (hint: install it, or give its full path)", c.Name, err))
		}
	}
	return errors.Join(all...)
}

// path returns the path of the program. A name with a slash must be absolute, because an agent could write a program
// below the workspace.
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

// environment returns a minimal environment and the variables that the operator lists.
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
	path, err := c.path()
	if err != nil {
		return Result{Exit: -1, Missing: true}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.Timeout, DefaultTimeout), errTimeout)
	defer cancel()
	cmd := exec.Command(path, c.Run[1:]...) //nolint:noctx // watch kills it and its children when ctx ends
	cmd.Dir, cmd.Env = dir, c.environment()
	out, memory := &tail.Tail{N: maxOutput}, cmp.Or(c.Memory, DefaultMemory)
	end, over, err := live(ctx, cmd, out, guard.Options{Self: o.Self, Hold: o.Hold, Limits: guard.Limits{Data: memory, File: maxFile}})
	result := Result{Exit: end.Code, Output: outputOf(out, dir), OverMemory: over, Missing: err != nil}
	result.TimedOut = !over && errors.Is(context.Cause(ctx), errTimeout) && end != (guard.End{})
	if end.Signal != 0 {
		result.Exit, result.Signal = -1, end.Signal.String()
	}
	return result
}

var errTimeout = errors.New("the command timed out")

// failed returns PREFLIGHT_FAILED for a result.
func (c Command) failed(r Result) error {
	details := map[string]any{"command": redact.Text(c.Name)}
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
		lines := strings.Split(strings.TrimSuffix(r.Output, "\n"), "\n") // as lines, because a long text in an error is cut at its end
		details["output"] = lines[max(0, len(lines)-maxOutputLines):]
	}
	return candor.New(kaiza.PreflightFailed, fmt.Sprintf("The check %q %s.", c.Name, why), candor.WithDetails(details))
}

// maxOutput limits the output in an error, in bytes. maxOutputLines is how many lines of output an error has, as many as fit into a list in its details.
const (
	maxOutput      = 4 << 10
	maxOutputLines = 100
)

// outputOf returns the end of a command's output as clean text without secrets, with the paths of files in dir relative to
// it. A line that was cut is dropped, because part of a secret cannot be recognized.
func outputOf(out *tail.Tail, dir string) string {
	text, lost := out.Text()
	if lost {
		_, text, _ = strings.Cut(text, "\n")
		text = "…\n" + text
	}
	return redact.Text(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
}

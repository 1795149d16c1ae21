// Package preflight runs the operator's commands in a workspace after a change, within limits of time, memory and output.
package preflight

import (
	"context"
	"time"
)

// Command is one check.
type Command struct {
	Name    string        // for people
	Run     []string      // the command line; no shell reads it
	Timeout time.Duration // 0 is [DefaultTimeout]
	Memory  int64         // bytes resident in all its processes; 0 is [DefaultMemory]
	Output  int           // bytes of output that are kept, the last ones; 0 is [DefaultOutput]
	Env     []string      // names of further variables that are passed on
}

// What a command gets that says nothing else.
const (
	DefaultTimeout = time.Minute
	DefaultMemory  = 2 << 30
	DefaultOutput  = 64 << 10
)

// Options say how commands are run.
type Options struct {
	// Self is the command line that runs [LimitedMain], without its arguments. Empty leaves the limit of memory to watching alone.
	Self []string
}

// Report is what the commands did, up to the first that failed.
type Report struct {
	Results []Result `json:"results"`
}

// Result is what one command did.
type Result struct {
	Name       string        `json:"name"`
	Exit       int           `json:"exit"`
	Signal     string        `json:"signal,omitempty"`
	TimedOut   bool          `json:"timed_out,omitempty"`
	OverMemory bool          `json:"over_memory,omitempty"`
	Duration   time.Duration `json:"duration"`
	Output     string        `json:"output,omitempty"`
}

// Run runs the commands one after the other in a folder, and stops at the first that fails: the error is then PREFLIGHT_FAILED.
// If ctx ends, what runs is killed and the error is that of ctx.
func Run(_ context.Context, _ string, _ []Command, _ Options) (Report, error) { return Report{}, nil }

// Lookup reports the first command that cannot be found, for the check at start-up.
func Lookup(_ []Command) error { return nil }

// LimitedMain sets the limits that its arguments name and becomes the command that follows them: --data BYTES --fsize BYTES -- CMD ARGS.
// It returns only if that fails.
func LimitedMain(_ []string) error { return nil }

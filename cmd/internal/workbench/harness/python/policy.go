package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	pythoncode "github.com/candor-mcp/candor/codes/python"
)

// judgement is the output of check.py.
type judgement struct {
	Refused []struct {
		Line int    `json:"line"`
		What string `json:"what"`
	} `json:"refused"`
	Large bool `json:"large"` // it needs too much memory
	Error *struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Line int    `json:"line"`
	} `json:"error"`
}

// checkMemory is the minimum memory of the check, which depends on the size of the source and not on its effects.
const checkMemory = 256 << 20

// applyPolicy checks the source with a separate interpreter, so that the source cannot interfere.
func (r *runner) applyPolicy(ctx context.Context, python *interpreter, f folder) error {
	timed, cancel := context.WithTimeout(ctx, r.config.CheckTimeout)
	defer cancel()
	p := r.process(python, f, checkProgram, f.source(), strings.Join(r.config.Allow, ","))
	p.keep = 16 << 10
	p.guard.Limits.Data = max(p.guard.Limits.Data, checkMemory)
	p.guard.Limits.Maps = p.guard.Limits.Data + maxMaps
	done, err := p.run(timed)
	if err != nil {
		return fmt.Errorf("starting Python: %w", err)
	}
	if err := r.checkFailure(ctx, done); err != nil {
		return err
	}
	var j judgement
	if err := json.Unmarshal([]byte(done.stdout.text()), &j); err != nil {
		return fmt.Errorf("reading the result of the check: %w", err)
	}
	if j.Large {
		return tooLarge("the code is too large to be checked")
	}
	if j.Error != nil {
		return domain.Fail(pythoncode.ExecFail, at(fmt.Sprintf("%s: %s", j.Error.Type, j.Error.Text), j.Error.Line), nil)
	}
	if len(j.Refused) == 0 {
		return nil
	}
	var reasons []string
	for _, v := range j.Refused {
		reasons = append(reasons, at(v.What, v.Line))
	}
	return domain.Fail(pythoncode.Security, "not allowed: "+strings.Join(reasons, ", "), nil)
}

// checkFailure returns why a check has no result, or nil. Code that Python cannot parse is the caller's fault; a check
// that was slow or killed is not, and may succeed next time.
func (r *runner) checkFailure(ctx context.Context, done *finished) error {
	cause := errors.New(done.end.String() + ": " + done.stderr.ending())
	switch {
	case done.stopped == stopCancel:
		return context.Canceled
	case done.stopped == stopTime && ctx.Err() != nil:
		return domain.Fail(pythoncode.Timeout, "stopped at the deadline of the call, before the code was run", ctx.Err())
	case done.stopped == stopTime:
		return domain.Fail(pythoncode.Timeout, fmt.Sprintf("the check of the code did not finish within %d ms; nothing was run",
			r.config.CheckTimeout.Milliseconds()), cause, candor.WithRetry(candor.RetryIn(time.Second)),
			candor.WithMessage("The check of the Python code took too long."), candor.WithSuggestion("Send the same call again later."))
	case done.stopped != "":
		return fmt.Errorf("checking the code: stopped because of its %s", done.stopped)
	case done.end == (guard.End{}):
		return nil
	case done.end.Signal == syscall.SIGSEGV, done.end.Signal == syscall.SIGABRT, done.end.Signal == syscall.SIGBUS:
		return domain.Fail(pythoncode.ExecFail, "Python could not read the code; it is nested too deeply", cause)
	case done.end.Signal != 0:
		return domain.Fail(candor.CodeUnavailable, "the check of the code was ended by the system; nothing was run", cause)
	case strings.Contains(done.stderr.ending(), "MemoryError"):
		return tooLarge("the code is too large to be checked")
	}
	return fmt.Errorf("checking the code: %w", cause)
}

// at appends the line number to a text.
func at(text string, line int) string {
	if line <= 0 {
		return text
	}
	return fmt.Sprintf("%s (line %d)", text, line)
}

// process returns a process that runs one of this package's programs with arguments.
func (r *runner) process(python *interpreter, f folder, program string, args ...string) *process {
	line := append([]string{python.Executable}, isolated...)
	line = append(append(line, "-c", program), args...)
	o := guard.Options{
		Self: r.config.Guard, Limits: guard.Limits{Data: r.config.Memory, Maps: r.config.Memory + maxMaps, File: maxFile, Open: maxOpen}, Hold: f.dir.Held(),
		Confine: &guard.Confinement{Read: append(python.readable(), f.source(), f.files()), Run: python.executable(), Write: []string{f.work()}, Alone: true},
	}
	return &process{
		line: line, dir: f.work(), env: []string{"HOME=" + f.work(), "TMPDIR=" + f.work(), "PATH=", "LC_ALL=C.UTF-8"}, guard: o, keep: r.config.Output,
		full: func(ctx context.Context) bool { return f.size(ctx, maxFolder) > maxFolder },
	}
}

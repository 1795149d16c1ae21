package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/guard"
	"github.com/candor-mcp/candor/workbench/harness/domain"
)

// judgement is what check.py prints.
type judgement struct {
	Refused []struct {
		Line int    `json:"line"`
		What string `json:"what"`
	} `json:"refused"`
	Error *struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Line int    `json:"line"`
	} `json:"error"`
}

// checkTimeout is how long the policy has for one source.
const checkTimeout = 10 * time.Second

// applyPolicy has an interpreter of its own read the source and judge it, so that the source cannot interfere.
func (r *runner) applyPolicy(ctx context.Context, python *interpreter, f folder) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	p := r.process(python, f, checkProgram, f.source(), strings.Join(r.config.Allow, ","))
	p.keep = 16 << 10
	done, err := p.run(ctx)
	if err != nil {
		return fmt.Errorf("starting Python: %w", err)
	}
	if done.stopped == stopCancel {
		return context.Canceled
	}
	var j judgement
	if done.stopped != "" || done.end != (guard.End{}) || json.Unmarshal([]byte(done.stdout.text()), &j) != nil {
		return domain.Fail(candor.CodePythonPyExecFail, "Python could not read the code within its limits; it is nested too deeply or too large",
			errors.New(done.end.String()+": "+done.stderr.ending()))
	}
	if j.Error != nil {
		return domain.Fail(candor.CodePythonPyExecFail, at(fmt.Sprintf("%s: %s", j.Error.Type, j.Error.Text), j.Error.Line), nil)
	}
	if len(j.Refused) == 0 {
		return nil
	}
	var reasons []string
	for _, v := range j.Refused {
		reasons = append(reasons, at(v.What, v.Line))
	}
	return domain.Fail(candor.CodePythonPySecurity, "not allowed: "+strings.Join(reasons, ", "), nil)
}

// at appends the line to a text.
func at(text string, line int) string {
	if line <= 0 {
		return text
	}
	return fmt.Sprintf("%s (line %d)", text, line)
}

// process returns a process that runs one of our own programs with arguments.
func (r *runner) process(python *interpreter, f folder, program string, args ...string) *process {
	line := append([]string{python.Executable}, isolated...)
	line = append(append(line, "-c", program), args...)
	o := guard.Options{
		Self: r.config.Guard, Limits: guard.Limits{Data: r.config.Memory, File: maxFile},
		Confine: &guard.Confinement{Read: append(python.readable(), f.source()), Write: []string{f.work()}},
	}
	return &process{
		line: line, dir: f.work(), env: []string{"HOME=" + f.work(), "TMPDIR=" + f.work(), "PATH=", "LC_ALL=C.UTF-8"}, guard: o, keep: r.config.Output,
		full: func() bool { return f.size(maxFolder) > maxFolder },
	}
}

package python

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	pythoncode "github.com/candor-mcp/candor/codes/python"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/truncate"
)

func invalid(format string, args ...any) error {
	return domain.Fail(pythoncode.InvalidParams, fmt.Sprintf(format, args...), nil)
}

func tooLarge(format string, args ...any) error {
	return domain.Fail(common.InputTooLarge, fmt.Sprintf(format, args...), nil)
}

// runSource runs a source that has passed the policy.
func (r *runner) runSource(ctx context.Context, python *interpreter, f folder, name string, args []string, limit time.Duration) (*Result, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	done, err := r.process(python, f, runProgram, append([]string{f.source(), name, f.files()}, args...)...).run(timed)
	if err != nil {
		return nil, fmt.Errorf("starting Python: %w", err)
	}
	clean := python.cleaner(f)
	fail := func(code candor.Code, cause error, format string, args ...any) error {
		return failed(code, fmt.Sprintf(format, args...), done, clean, cause)
	}
	switch {
	case done.stopped == stopCancel:
		return nil, context.Canceled
	case done.stopped == stopTime && ctx.Err() != nil: // the deadline of the call was earlier
		return nil, fail(pythoncode.Timeout, ctx.Err(), "stopped at the deadline of the call")
	case done.stopped == stopTime:
		return nil, fail(pythoncode.Timeout, nil, "stopped after %d ms", limit.Milliseconds())
	case done.stopped == stopOutput:
		return nil, fail(common.LimitExceeded, nil, "stopped: the code printed more than %d bytes", floodAfter)
	case done.stopped == stopFolder:
		return nil, fail(common.LimitExceeded, nil, "stopped: the code wrote more than %d bytes of files, or folders that are too deep", maxFolder)
	}
	if done.end != (guard.End{}) {
		return nil, r.failure(done, name, clean)
	}
	return &Result{
		Stdout: clean.Replace(done.stdout.text()), Stderr: clean.Replace(done.stderr.text()),
		Truncated: done.stdout.truncated() || done.stderr.truncated(), DurationMs: time.Since(began).Milliseconds(),
	}, nil
}

// cleaner returns a replacer that removes the paths of this machine from output.
func (i *interpreter) cleaner(f folder) *strings.Replacer {
	return strings.NewReplacer(f.work()+"/", "", f.work(), ".", f.dir.Path+"/", "", i.Library+"/", "", filepath.Dir(i.Library)+"/", "", i.Executable, "python3")
}

// failure returns the error for a run that did not succeed.
func (r *runner) failure(done *finished, name string, clean *strings.Replacer) error {
	text := clean.Replace(done.stderr.ending())
	details, line := lastException(text, name)
	cause := errors.New(done.end.String() + "\n" + text)
	switch {
	case strings.HasPrefix(details, "MemoryError"), done.end.Signal == syscall.SIGSEGV && strings.Contains(text, "memory"):
		details = at(fmt.Sprintf("memory: the code needed more than %d MiB", r.config.Memory>>20), line)
	case isFileSizeSignal(done.end.Signal) || strings.HasPrefix(details, "OSError: [Errno 27]"):
		details = at(fmt.Sprintf("file size: the code wrote a file of more than %d MiB", maxFile>>20), line)
	case done.end.Signal != 0:
		details = "ended by signal: " + done.end.Signal.String()
	case details == "":
		details = "exit status " + strconv.Itoa(done.end.Code)
		if last := lastLine(text); last != "" {
			details += ": " + last
		}
	default:
		details = at(details, line)
	}
	return failed(pythoncode.ExecFail, details, done, clean, cause)
}

// failed returns the error for a run that was started. Its details have the end of both outputs as lines, which a model reads more easily
// than one string.
func failed(code candor.Code, message string, done *finished, clean *strings.Replacer, cause error) error {
	details := map[string]any{"message": message}
	for name, output := range map[string]*capture{"stdout": done.stdout, "stderr": done.stderr} {
		if lines := lastLines(clean.Replace(output.ending())); len(lines) > 0 {
			details[name] = lines
		}
	}
	return domain.Fail(code, "", cause, candor.WithDetails(details))
}

// Limits of each output in the details of an error. Together they fit into the limits of details.
const (
	maxFailedLines = 40
	maxFailedBytes = 2500
)

// lastLines returns the last lines of an output.
func lastLines(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\r\n "), "\n")
	first, size := len(lines), 0
	for first > 0 && len(lines)-first < maxFailedLines && size < maxFailedBytes {
		first--
		lines[first] = shorten(lines[first])
		size += len(lines[first])
	}
	switch {
	case text == "":
		return nil
	case first > 0:
		return append([]string{"…"}, lines[first:]...)
	}
	return lines
}

const tracebackMark = "Traceback (most recent call last):"

var exceptionLine = lazyregexp.New(`^[A-Za-z_][\w.]*(: .*)?$`)

// lastException finds the last exception of an output and the last line of the caller's code in its traceback.
func lastException(text, name string) (exception string, line int) {
	start := strings.LastIndex(text, tracebackMark)
	if start < 0 {
		if start = strings.LastIndex(text, "  File \""+name+"\", line "); start < 0 {
			return "", 0
		}
	}
	own := regexp.MustCompile(`^  File "` + regexp.QuoteMeta(name) + `", line (\d+)`)
	for l := range strings.Lines(text[start:]) {
		l = strings.TrimRight(l, "\r\n")
		if m := own.FindStringSubmatch(l); m != nil {
			line, _ = strconv.Atoi(m[1]) // the pattern matches digits only
		}
		if exception == "" && l != tracebackMark && exceptionLine.MatchString(l) {
			exception = shorten(l)
		}
	}
	return exception, line
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\r\n ")
	return shorten(text[strings.LastIndexByte(text, '\n')+1:])
}

// shorten limits a text of a program to 300 bytes.
func shorten(text string) string { return truncate.Text(text, 300) }

// Package systrace traces the system calls of a process, for tests that check that a record is on the disk before a
// reply is sent.
package systrace

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// Wrap makes a command run under strace, which writes the calls that write or sync to the file trace. It returns an
// error if strace is not installed.
func Wrap(cmd *exec.Cmd, trace string) error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return err
	}
	cmd.Args = append([]string{strace, "-f", "-y", "-qq", "-s", "1048576", "-e", "trace=write,pwrite64,writev,fdatasync,fsync", "-o", trace, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = strace
	return nil
}

// Call is a system call with its begin and end in the trace.
type Call struct {
	Name, Args, Result string
	Began, Ended       int // line numbers in the trace; Ended is 0 if the call did not end
}

var (
	traceLine    = regexp.MustCompile(`^(\d+) +(.*)$`)
	traceWhole   = regexp.MustCompile(`^(\w+)\((.*)\) += (.*)$`)
	traceBegin   = regexp.MustCompile(`^(\w+)\((.*) <unfinished \.\.\.>$`)
	traceResumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)\) += (.*)$`)
	traceFile    = regexp.MustCompile(`^\d+<([^>]*)>`)
)

// ReadFile reads a trace that a command set up with [Wrap] has written.
func ReadFile(name string) ([]*Call, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return read(f)
}

// read parses a trace and joins the parts of interrupted calls.
func read(r io.Reader) (calls []*Call, err error) {
	open := map[string]*Call{} // by thread
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		line := traceLine.FindStringSubmatch(lines.Text())
		if line == nil {
			continue
		}
		thread, text := line[1], line[2]
		if m := traceResumed.FindStringSubmatch(text); m != nil {
			if c := open[thread]; c != nil && c.Name == m[1] {
				c.Args, c.Result, c.Ended = c.Args+m[2], m[3], n
			}
			delete(open, thread)
		} else if m := traceBegin.FindStringSubmatch(text); m != nil {
			open[thread] = &Call{Name: m[1], Args: m[2], Began: n}
			calls = append(calls, open[thread])
		} else if m := traceWhole.FindStringSubmatch(text); m != nil {
			calls = append(calls, &Call{Name: m[1], Args: m[2], Result: m[3], Began: n, Ended: n})
		}
	}
	return calls, lines.Err()
}

// File returns the file that a call operates on, or "".
func (c *Call) File() string {
	if m := traceFile.FindStringSubmatch(c.Args); m != nil {
		return m[1]
	}
	return ""
}

// Writes reports whether the call writes.
func (c *Call) Writes() bool { return c.Name == "write" || c.Name == "pwrite64" || c.Name == "writev" }

// Says reports whether the call writes to standard output.
func (c *Call) Says() bool { return c.Writes() && strings.HasPrefix(c.Args, "1<") }

// Syncs reports whether the call is a successful sync.
func (c *Call) Syncs() bool { return (c.Name == "fdatasync" || c.Name == "fsync") && c.Result == "0" }

// Unordered checks that the line with a ref was written to the file active and synced before line said of the trace.
// It returns a description of the missing step, or "". before holds the calls before that line.
func Unordered(before []*Call, active, ref string, said int) string {
	member := `\"ref\":\"` + ref + `\"`
	for i, w := range before {
		if !w.Writes() || !strings.HasSuffix(w.File(), "/"+active) || !strings.Contains(w.Args, member) {
			continue
		}
		for _, s := range before[i+1:] {
			if s.Syncs() && s.File() == w.File() && s.Began >= w.Ended && s.Ended != 0 && s.Ended <= said {
				return ""
			}
		}
		return "its line was not synced before"
	}
	return "its line was not written before"
}

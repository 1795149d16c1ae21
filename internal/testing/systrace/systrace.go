// Package systrace looks at a process from outside, system call by system call, for the tests that a record is on the disk before
// anybody is told of it.
package systrace

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// Wrap has a command run under strace, which writes the calls that write or sync to the file trace. It fails if strace is not
// installed.
func Wrap(cmd *exec.Cmd, trace string) error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return err
	}
	cmd.Args = append([]string{strace, "-f", "-y", "-qq", "-s", "1048576", "-e", "trace=write,pwrite64,writev,fdatasync,fsync", "-o", trace, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = strace
	return nil
}

// Call is a system call as strace saw it begin and end.
type Call struct {
	Name, Args, Result string
	Began, Ended       int // lines of the trace; a call that never ended has Ended 0
}

var (
	traceLine    = regexp.MustCompile(`^(\d+) +(.*)$`)
	traceWhole   = regexp.MustCompile(`^(\w+)\((.*)\) += (.*)$`)
	traceBegin   = regexp.MustCompile(`^(\w+)\((.*) <unfinished \.\.\.>$`)
	traceResumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)\) += (.*)$`)
	traceFile    = regexp.MustCompile(`^\d+<([^>]*)>`)
)

// ReadFile reads a trace that [Wrap] asked for.
func ReadFile(name string) ([]*Call, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return read(f)
}

// read puts the halves of interrupted lines together again.
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

// File returns the file that a call is about.
func (c *Call) File() string {
	if m := traceFile.FindStringSubmatch(c.Args); m != nil {
		return m[1]
	}
	return ""
}

// Writes reports a call that writes.
func (c *Call) Writes() bool { return c.Name == "write" || c.Name == "pwrite64" || c.Name == "writev" }

// Says reports a call that writes to standard output.
func (c *Call) Says() bool { return c.Writes() && strings.HasPrefix(c.Args, "1<") }

// Syncs reports a sync that went well.
func (c *Call) Syncs() bool { return (c.Name == "fdatasync" || c.Name == "fsync") && c.Result == "0" }

// Unordered says what is missing between the line of a ref in a ledger's active file of that name and a call that began at line
// said of the trace, or "". Before are the calls before that one.
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

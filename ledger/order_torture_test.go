package ledger

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// call is a system call as strace saw it begin and end.
type call struct {
	name, args, result string
	began, ended       int // lines of the trace; a call that never ended has ended 0
}

var (
	traceLine    = regexp.MustCompile(`^(\d+) +(.*)$`)
	traceWhole   = regexp.MustCompile(`^(\w+)\((.*)\) += (.*)$`)
	traceBegin   = regexp.MustCompile(`^(\w+)\((.*) <unfinished \.\.\.>$`)
	traceResumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)\) += (.*)$`)
	traceFile    = regexp.MustCompile(`^\d+<([^>]*)>`)
)

// readTrace puts the halves of interrupted lines together again.
func readTrace(t *testing.T, name string) (calls []*call) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()            //nolint:errcheck // it was only read
	open := map[string]*call{} // by thread
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		line := traceLine.FindStringSubmatch(lines.Text())
		if line == nil {
			continue
		}
		thread, text := line[1], line[2]
		if m := traceResumed.FindStringSubmatch(text); m != nil {
			if c := open[thread]; c != nil && c.name == m[1] {
				c.args, c.result, c.ended = c.args+m[2], m[3], n
			}
			delete(open, thread)
		} else if m := traceBegin.FindStringSubmatch(text); m != nil {
			open[thread] = &call{name: m[1], args: m[2], began: n}
			calls = append(calls, open[thread])
		} else if m := traceWhole.FindStringSubmatch(text); m != nil {
			calls = append(calls, &call{name: m[1], args: m[2], result: m[3], began: n, ended: n})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

// file returns the file that a call is about.
func (c *call) file() string {
	if m := traceFile.FindStringSubmatch(c.args); m != nil {
		return m[1]
	}
	return ""
}

func (c *call) writes() bool { return c.name == "write" || c.name == "pwrite64" || c.name == "writev" }

func (c *call) syncs() bool { return (c.name == "fdatasync" || c.name == "fsync") && c.result == "0" }

var refText = regexp.MustCompile(`\b\d+-\d+-\d+\b`)

// TestR5EveryReceiptComesAfterItsSync looks at a writer from outside, call by call: the line is written to the ledger, that file is synced, and
// only then does the receipt go out.
func TestR5EveryReceiptComesAfterItsSync(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	cmd := process(t, "writer", filepath.Join(dir, "ledger"), countVar+"=40", callersVar+"=8")
	cmd.Args = append([]string{strace, "-f", "-y", "-qq", "-s", "1048576", "-e", "trace=write,pwrite64,writev,fdatasync,fsync", "-o", trace, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = strace
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	proven := 0
	calls := readTrace(t, trace)
	namesAreDurable(t, calls, dir)
	for i, c := range calls {
		if _, text, ok := strings.Cut(c.args, `"receipt `); c.writes() && ok && strings.HasPrefix(c.args, "1<") {
			if why := unordered(calls[:i], refText.FindString(text), c.began); why != "" {
				t.Errorf("receipt %s: %s", refText.FindString(text), why)
			}
			proven++
		}
	}
	if want := 8 * 40; proven != want {
		t.Errorf("%d receipts in the trace, want %d", proven, want)
	}
	t.Logf("%d receipts, each after the sync of its line, in %d calls", proven, len(calls))
}

// namesAreDurable asks that the name of the ledger's folder, and the names in it, are synced before the first receipt.
func namesAreDurable(t *testing.T, calls []*call, dir string) {
	t.Helper()
	synced := map[string]bool{}
	for _, c := range calls {
		if c.writes() && strings.HasPrefix(c.args, "1<") && strings.Contains(c.args, `"receipt `) {
			break
		}
		if c.syncs() {
			synced[strings.TrimPrefix(c.file(), dir)] = true
		}
	}
	for _, folder := range []string{"", "/ledger", "/ledger/keys"} {
		if !synced[folder] {
			t.Errorf("the folder %q was not synced before the first receipt", folder)
		}
	}
}

// unordered says what is missing between the line of a ref and its receipt, which began at that line of the trace.
func unordered(before []*call, ref string, said int) string {
	member := `\"ref\":\"` + ref + `\"`
	for i, w := range before {
		if !w.writes() || !strings.HasSuffix(w.file(), "/"+activeName) || !strings.Contains(w.args, member) {
			continue
		}
		for _, s := range before[i+1:] {
			if s.syncs() && s.file() == w.file() && s.began >= w.ended && s.ended != 0 && s.ended <= said {
				return ""
			}
		}
		return "its line was not synced before"
	}
	return "its line was not written before"
}

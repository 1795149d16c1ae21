package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// endBound limits how long a process may take to end in these tests. It is far above what the program needs, because the machine may be busy.
const endBound = 2 * time.Minute

// unreadProcess is a candor process; the test reads its streams only on demand.
type unreadProcess struct {
	t           *testing.T
	cmd         *exec.Cmd
	in          *os.File
	out, errors *os.File
	trail       string
	ended       chan struct{}
}

// startUnread starts candor with plain pipes for its three streams. Nothing reads them.
func startUnread(t *testing.T, args ...string) *unreadProcess {
	t.Helper()
	bin, home := installed(t), t.TempDir()
	p := &unreadProcess{t: t, trail: filepath.Join(home, "trail"), ended: make(chan struct{})}
	stdin, in := connected(t)
	out, stdout := connected(t)
	errs, stderr := connected(t)
	p.in, p.out, p.errors = in, out, errs
	p.cmd = exec.Command(filepath.Join(bin, term.ProgramName), args...) // the test ends it
	p.cmd.Dir = home
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, stderr
	p.cmd.Env = append(os.Environ(), "HOME="+home, "CANDOR_LEDGER="+p.trail, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{stdin, stdout, stderr} {
		_ = f.Close() // the process has copies
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the test uses the state instead
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

// connected returns two ends of a pipe, the reading one first.
func connected(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

func (p *unreadProcess) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *unreadProcess) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends requires that the process ends by itself, and returns its exit code.
func (p *unreadProcess) ends(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(endBound):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // to print its goroutines
		t.Logf("%s", read(t, p.errors))
		t.Fatalf("still running after %s", endBound)
	}
	return p.cmd.ProcessState.ExitCode()
}

// read returns all output of the process until it ends.
func read(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func numberedCall(id int, tool string, n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d}}}`, id, tool, n)
}

// TestWrapEndsIfClientDoesNotRead fills the pipe to a client that never reads. All cases run at the same time,
// because each mostly waits.
func TestWrapEndsIfClientDoesNotRead(t *testing.T) {
	t.Parallel()
	fills := map[string]func(*unreadProcess){
		"server answers":  func(p *unreadProcess) { p.say(numberedCall(1, "huge", 1)) },
		"own answers":     func(p *unreadProcess) { p.say(strings.Repeat("{\n", 4000)) },
		"failing answers": fillWithFailures,
	}
	endings := map[string]func(*unreadProcess){
		"stdin closed": func(p *unreadProcess) { _ = p.in.Close() },
		"SIGTERM":      func(p *unreadProcess) { p.signal(syscall.SIGTERM) },
	}
	running := map[string]*unreadProcess{}
	for fill, act := range fills {
		for end := range endings {
			p := startUnread(t, "wrap", "--", "badserver")
			act(p)
			running[fill+", "+end] = p
		}
	}
	awaitFull(t, slices.Collect(maps.Values(running))...)
	for name, p := range running {
		_, end, _ := strings.Cut(name, ", ")
		endings[end](p)
	}
	for name, p := range running {
		t.Run(name, func(t *testing.T) {
			if code := p.ends(t); code != term.ExitOK {
				t.Errorf("ended with %d: %s", code, read(t, p.errors))
			}
			if text := read(t, p.errors); !strings.Contains(text, "the client did not read its last answers") || !strings.Contains(text, "recorded in ") {
				t.Errorf("it said %s", text)
			}
			checkClosed(t, p.trail)
		})
	}
}

func fillWithFailures(p *unreadProcess) {
	for i := range 300 {
		p.say(numberedCall(i, "fail", 0))
	}
}

// awaitFull waits until every process has written at least half of what a pipe holds, which is all of it if many writes left the end of a
// page unused, and none has written more for a second: each failure waits for the disk, which can take long on a busy machine.
func awaitFull(t *testing.T, processes ...*unreadProcess) {
	t.Helper()
	was := map[*unreadProcess]int{}
	untilCalm(func() (changed bool) {
		for _, p := range processes {
			n := waiting(t, p.out)
			changed = changed || n != was[p] || n < 32<<10
			was[p] = n
		}
		return changed
	})
}

// waiting returns how many bytes can be read from f.
func waiting(t *testing.T, f *os.File) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

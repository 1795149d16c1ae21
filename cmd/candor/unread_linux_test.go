package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
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
const endBound = 40 * time.Second

// unreadProcess is a candor process whose streams the test reads only on demand.
type unreadProcess struct {
	t           *testing.T
	cmd         *exec.Cmd
	in          *os.File
	out, errors *os.File
	trail       string
	ended       chan struct{}
}

// startUnread starts candor with plain pipes, or sockets, for its three streams. Nothing reads them.
func startUnread(t *testing.T, sockets bool, args ...string) *unreadProcess {
	t.Helper()
	bin, home := installed(t), t.TempDir()
	p := &unreadProcess{t: t, trail: filepath.Join(home, "trail"), ended: make(chan struct{})}
	stdin, in := connected(t, sockets)
	out, stdout := connected(t, sockets)
	errs, stderr := connected(t, sockets)
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

// connected returns two ends of a pipe, the reading one first, or of a socket pair.
func connected(t *testing.T, sockets bool) (r, w *os.File) {
	t.Helper()
	if !sockets {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r.Close(), w.Close() })
		return r, w
	}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
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
	for _, sockets := range []bool{false, true} {
		for fill, act := range fills {
			for end := range endings {
				p := startUnread(t, sockets, "wrap", "--", "badserver")
				act(p)
				running[fmt.Sprintf("%s, %s, sockets %v", fill, end, sockets)] = p
			}
		}
	}
	awaitFull(t, slices.Collect(maps.Values(running))...)
	for name, p := range running {
		_, end, _ := strings.Cut(name, ", ")
		end, _, _ = strings.Cut(end, ", ")
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

// awaitFull waits until the unread output of no process has grown for a second: each failure waits for the disk, which can take long on a
// busy machine.
func awaitFull(t *testing.T, processes ...*unreadProcess) {
	t.Helper()
	was := map[*unreadProcess]int{}
	for calm := 0; calm < 100; calm++ {
		for _, p := range processes {
			if n := waiting(t, p.out); n != was[p] || n == 0 {
				was[p], calm = n, 0
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestFullStderrDoesNotBlockWrap checks that a client that never reads standard error gets its answers, and that wrap ends.
func TestFullStderrDoesNotBlockWrap(t *testing.T) {
	t.Parallel()
	running := map[string]*unreadProcess{
		"text":            startUnread(t, false, "wrap", "--", "badserver"),
		"JSON":            startUnread(t, false, "wrap", "--json-logs", "--", "badserver"),
		"text to sockets": startUnread(t, true, "wrap", "--", "badserver"),
	}
	for _, p := range running {
		for i := range 300 { // each call logs a line
			p.say(numberedCall(i, "wrongid", 0))
		}
		p.say(numberedCall(1000, "stderrflood", 0))
		p.say(numberedCall(1001, "noise", 20))
		p.say(toolCall("1002", "echo"))
	}
	for name, p := range running {
		t.Run(name, func(t *testing.T) {
			p.awaitText(t, "after complaining", "among noise", `"id":1002`)
			_ = p.in.Close()
			p.signal(syscall.SIGTERM) // there are open calls
			p.ends(t)
		})
	}
}

// awaitText waits until the process has written all of these to its output.
func (p *unreadProcess) awaitText(t *testing.T, wanted ...string) {
	t.Helper()
	got := make(chan string)
	go func() {
		defer close(got)
		for lines := bufio.NewScanner(p.out); lines.Scan(); {
			got <- lines.Text()
		}
	}()
	bound := time.After(endBound)
	for len(wanted) > 0 {
		select {
		case line, ok := <-got:
			if !ok {
				t.Fatalf("the output ended without %q", wanted)
			}
			wanted = slices.DeleteFunc(wanted, func(w string) bool { return strings.Contains(line, w) })
		case <-bound:
			t.Fatalf("no answer with %q after %s", wanted, endBound)
		}
	}
	go func() {
		for range got { // so that the process does not block
		}
	}()
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

// TestFullStderrDoesNotBlockGateway fills standard error, which is never read, with the output of its servers.
func TestFullStderrDoesNotBlockGateway(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "candor.yaml")
	text := "version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  it:\n    command: [badserver]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startUnread(t, false, "gateway", "--config", config)
	first, err := bufio.NewReaderSize(p.errors, 16).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(first), "listening on ")
	client := &http.Client{Timeout: endBound}
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	session := ""
	for _, call := range []string{hello, numberedCall(1, "stderrflood", 0), toolCall("2", "echo")} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/it/", strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		session = cmp.Or(session, res.Header.Get("Mcp-Session-Id"))
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was only read
		if err != nil || !strings.Contains(string(answer), `"result"`) || strings.Contains(string(answer), "isError") {
			t.Errorf("answered %s, %v", answer, err)
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.ends(t); code != term.ExitOK {
		t.Errorf("ended with %d", code)
	}
	checkClosed(t, p.trail)
}

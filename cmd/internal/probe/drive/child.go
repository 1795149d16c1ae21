package drive

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/redact"
)

// How long a server gets to end at each step.
const (
	endByItself  = 500 * time.Millisecond // after its input was closed
	endBySignal  = 300 * time.Millisecond // after SIGTERM
	endByForce   = 5 * time.Second        // after SIGKILL, which is immediate unless the kernel blocks the process
	drainTimeout = 300 * time.Millisecond // to read the rest of the output of a process that has ended while others hold its pipes
	sweepTries   = 200
	sweepApart   = 5 * time.Millisecond
)

// child is a server process in its own scratch folders.
type child struct {
	runs       *guard.Process
	scratch    string // folder whose name identifies all processes of this server; see [child.sweep]
	in         *os.File
	out        *os.File
	ended      chan struct{} // closed when the process has ended
	stderrRead chan struct{} // closed at the end of its standard error
	said       tail
}

// start runs the command with a clean environment.
func start(t Target, o *Options) (*child, error) {
	line := t.Command
	path, err := exec.LookPath(line[0])
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w (hint: install it, or give its path)", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("starting %q: %w", line[0], err)
	}
	line = append([]string{path}, line[1:]...)
	c := &child{ended: make(chan struct{}), stderrRead: make(chan struct{})}
	if c.scratch, err = os.MkdirTemp("", scratchPrefix); err != nil {
		return nil, fmt.Errorf("creating a folder for the server: %w (hint: free disk space, or set TMPDIR)", err)
	}
	environment, err := c.environment()
	if err == nil {
		if up := o.Upstream; up != nil {
			line, environment = up.Wrap(line), append(environment, up.Environ()...)
		}
		cmd := exec.Command(line[0], line[1:]...) //nolint:noctx // close ends it with its child processes
		cmd.Env, cmd.Dir = append(environment, t.Env...), t.Dir
		if t.Dir == "" {
			cmd.Dir = filepath.Join(c.scratch, "work")
		}
		err = c.launch(cmd, o.Guard)
	}
	if err != nil {
		_ = os.RemoveAll(c.scratch)
		return nil, fmt.Errorf("starting %q: %w (hint: run the command by hand)", t.Command[0], err)
	}
	return c, nil
}

// scratchPrefix begins the names of scratch folders; the rest is random.
const scratchPrefix = "candor-probe-"

// environment creates the scratch folders and returns the variables that name them.
func (c *child) environment() ([]string, error) {
	vars := []string{"PATH=" + os.Getenv("PATH"), "LANG=" + os.Getenv("LANG")}
	for _, place := range [][2]string{
		{"HOME", "home"}, {"TMPDIR", "tmp"}, {"PWD", "work"}, {"XDG_CONFIG_HOME", "config"}, {"XDG_CACHE_HOME", "cache"},
		{"XDG_DATA_HOME", "data"}, {"XDG_STATE_HOME", "state"}, {"XDG_RUNTIME_DIR", "run"},
	} {
		dir := filepath.Join(c.scratch, place[1])
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		vars = append(vars, place[0]+"="+dir)
	}
	if runtime.GOOS == "windows" {
		vars = append(vars, c.windowsEnvironment()...)
	}
	return vars, nil
}

// windowsEnvironment returns the names that Windows has for the scratch folders, and the variables without which scripts such as
// npx.cmd cannot be run.
func (c *child) windowsEnvironment() (vars []string) {
	for _, place := range [][2]string{{"USERPROFILE", "home"}, {"TEMP", "tmp"}, {"TMP", "tmp"}, {"APPDATA", "config"}, {"LOCALAPPDATA", "data"}} {
		vars = append(vars, place[0]+"="+filepath.Join(c.scratch, place[1]))
	}
	for _, name := range []string{"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "ProgramFiles"} {
		vars = append(vars, name+"="+os.Getenv(name))
	}
	return vars
}

// launch starts the process. The pipes are created here, so that waiting for the process does not wait for others that inherited them.
func (c *child) launch(cmd *exec.Cmd, line []string) error {
	var files [6]*os.File
	var err error
	for i := 0; i < len(files) && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
		c.runs, err = guard.Start(cmd, guard.Options{Self: line})
	}
	for _, theirs := range []int{0, 3, 5} {
		_ = files[theirs].Close()
	}
	if err != nil {
		for _, ours := range []int{1, 2, 4} {
			_ = files[ours].Close()
		}
		return err
	}
	c.in, c.out = files[1], files[2]
	go c.hear(files[4])
	go c.wait(files[4])
	return nil
}

// hear reads standard error and keeps the end of it.
func (c *child) hear(stderr *os.File) {
	defer close(c.stderrRead)
	defer func() { _ = stderr.Close() }()
	piece := make([]byte, 4096)
	for {
		n, err := stderr.Read(piece)
		c.said.add(piece[:n])
		if err != nil {
			return
		}
	}
}

// wait waits until the process ends, and then limits the time to read the rest of its pipes.
func (c *child) wait(stderr *os.File) {
	<-c.runs.Done()
	soon := time.Now().Add(drainTimeout)
	_, _ = c.out.SetReadDeadline(soon), stderr.SetReadDeadline(soon) // errors mean that they are closed already
	close(c.ended)
}

// exitStatus waits briefly for the process to end and returns its exit status.
func (c *child) exitStatus() string {
	if !within(c.ended, time.Second) {
		return "it closed its standard output but did not end"
	}
	_ = within(c.stderrRead, time.Second)
	return c.runs.End().String()
}

// close ends the process with its child processes and removes its folders. If patient is set, the process gets time to end by itself.
func (c *child) close(patient bool) {
	_ = c.in.Close()
	if patient && !within(c.ended, endByItself) {
		c.runs.Ask()
		_ = within(c.ended, endBySignal)
	}
	c.runs.Kill()
	_ = within(c.ended, endByForce)
	c.sweep()
	_ = c.out.Close()
	_ = within(c.stderrRead, endByForce) // wait has set a deadline
	_ = os.RemoveAll(c.scratch)
}

// within waits until done is closed, and reports whether that was within d.
func within(done <-chan struct{}, d time.Duration) bool {
	clock := time.NewTimer(d)
	defer clock.Stop()
	select {
	case <-done:
		return true
	case <-clock.C:
		return false
	}
}

// tail holds the end of a stream.
type tail struct {
	mu   sync.Mutex
	held []byte // guarded by mu
	cut  bool   // guarded by mu
}

func (t *tail) add(piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = append(t.held, piece...)
	if over := len(t.held) - 4*keptStderr; over > 0 { // keep more than is returned, so that a secret at the cut is still complete
		t.held, t.cut = append(t.held[:0], t.held[over:]...), true
	}
}

// take returns the end of the text since the last call, without secrets. The beginning of a secret at the end of the text is kept for the
// next call.
func (t *tail) take(m *mask) string {
	t.mu.Lock()
	held, cut := string(t.held), t.cut
	held = held[:len(held)-m.begun(held)]
	t.held, t.cut = append(t.held[:0], t.held[len(held):]...), false
	t.mu.Unlock()
	text := m.over(redact.Policy{KeepPaths: true}.Text(held))
	if over := len(text) - keptStderr; over > 0 {
		text, cut = text[over:], true
	}
	if cut {
		text = "…" + strings.ToValidUTF8(text, "")
	}
	return text
}

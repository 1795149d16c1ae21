package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/redact"
)

// child is a server process in its own scratch folders.
type child struct {
	*mcpclient.Stdio
	runs    *guard.Process
	scratch string // folder whose name identifies all processes of this server; see [child.sweep]
	begun   string // the beginning of a secret that ended the last text of standard error
}

// How processes that have left the group of the server are looked for.
const (
	sweepTries = 200
	sweepApart = 5 * time.Millisecond
)

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
	c := &child{}
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
		c.Stdio, err = mcpclient.Start(cmd, mcpclient.StdioOptions{MaxBytes: maxMessage, MaxStderr: 4 * keptStderr, // more than is shown, so that a secret at the cut is complete
			Start: func(cmd *exec.Cmd) (_ mcpclient.Process, err error) {
				c.runs, err = guard.Start(cmd, guard.Options{Self: o.Guard})
				return c.runs, err
			}})
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

// exitStatus waits briefly for the process to end and returns its exit status.
func (c *child) exitStatus() string {
	if !c.Ended(time.Second) {
		return "it closed its standard output but did not end"
	}
	return c.runs.End().String()
}

// Close ends the process with its child processes and removes its folders. If patient is set, the process gets time to end by itself.
func (c *child) Close(patient bool) {
	c.Stdio.Close(patient)
	c.sweep()
	_ = os.RemoveAll(c.scratch)
}

// within waits until done is closed, but at most d.
func within(done <-chan struct{}, d time.Duration) {
	select {
	case <-done:
	case <-time.After(d):
	}
}

// stderr returns the end of standard error since the last call, without secrets. The beginning of a secret at its end is kept for
// the next call.
func (c *child) stderr(m *mask) string {
	text, cut := c.Stderr.Take()
	text = c.begun + text
	end := len(text) - m.begun(text)
	text, c.begun = text[:end], text[end:]
	text = m.over(redact.Policy{KeepPaths: true}.Text(text))
	if over := len(text) - keptStderr; over > 0 {
		text, cut = text[over:], true
	}
	if cut {
		text = "…" + strings.ToValidUTF8(text, "")
	}
	return text
}

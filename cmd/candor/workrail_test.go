package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// railClient is a client of a `candor workbench` server over standard input and output.
type railClient struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	calls int
}

// railAnswer has the parts of an answer that tests use.
type railAnswer struct {
	Text  []string
	Error bool
	Data  struct {
		Kind     string `json:"kind"`
		Session  string `json:"sessionId"`
		Continue string `json:"continueToken"`
		Retry    string `json:"retryContinueToken"`
		Resume   string `json:"resumeToken"`
		Hash     string `json:"hash"`
	}
}

// token returns the token for the next call.
func (a *railAnswer) token() string { return a.Data.Continue + a.Data.Retry }

// startRail starts `candor workbench workrail` in a folder and does the handshake.
func startRail(binary, dir string, env []string, args ...string) (*railClient, error) {
	return startBench(binary, dir, env, append([]string{"workrail"}, args...)...)
}

// startBench starts a `candor workbench` server in a folder and does the handshake.
func startBench(binary, dir string, env []string, args ...string) (*railClient, error) {
	c := &railClient{cmd: exec.Command(binary, append([]string{"workbench"}, args...)...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, env, os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err = c.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "test", "version": "1"}}); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, err
}

// ask sends a request and returns the result.
func (c *railClient) ask(method string, params map[string]any) (json.RawMessage, error) {
	c.calls++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.calls, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	said, err := c.lines.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(said, &reply); err != nil || reply.Error != nil {
		return nil, fmt.Errorf("%s: %w: %s", method, err, said)
	}
	return reply.Result, nil
}

// call calls a tool.
func (c *railClient) call(tool string, in map[string]any) (*railAnswer, error) {
	raw, err := c.ask("tools/call", map[string]any{"name": tool, "arguments": in})
	if err != nil {
		return nil, err
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Error bool            `json:"isError"`
		Data  json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	a := &railAnswer{Error: result.Error}
	for _, part := range result.Content {
		a.Text = append(a.Text, part.Text)
	}
	if len(result.Data) > 0 {
		err = json.Unmarshal(result.Data, &a.Data)
	}
	return a, err
}

// stop ends the server by closing its input, as a client does.
func (c *railClient) stop() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// makeSessions runs three sessions of the workflow demo, whose file the script has, and puts their ids into the
// environment: OPEN, BLOCKED and DONE; HASH is the workflow.
func makeSessions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: makesessions STATE WORKFLOWS")
	}
	c, err := startRail(binaryOf(ts), ts.MkAbs("."), os.Environ(), "--state", args[0], "--workflows", args[1], "--quiet")
	ts.Check(err)
	call := func(tool string, in map[string]any) *railAnswer {
		a, err := c.call(tool, in)
		ts.Check(err)
		if a.Error {
			ts.Fatalf("%s: %s", tool, a.Text)
		}
		return a
	}
	start := func(goal string) *railAnswer {
		return call("start_workflow", map[string]any{"workflowId": "demo", "goal": goal})
	}
	ts.Setenv("HASH", call("inspect_workflow", map[string]any{"workflowId": "demo"}).Data.Hash)

	done := start("Finish it")
	done = call("continue_workflow", map[string]any{"continueToken": done.token(), "notes": "Looked."})
	done = call("continue_workflow", map[string]any{"continueToken": done.token(), "output": map[string]any{"ok": true}})
	ts.Setenv("DONE", done.Data.Session)

	blocked := start("Try it")
	blocked = call("continue_workflow", map[string]any{"continueToken": blocked.token()})
	blocked = call("continue_workflow", map[string]any{"continueToken": blocked.token(), "notes": "Found a door.\nIt is \x1b[31mred.", "context": map[string]any{"door": "red"}})
	blocked = call("continue_workflow", map[string]any{"continueToken": blocked.token()})
	if blocked.Data.Kind != "blocked" {
		ts.Fatalf("not blocked: %s", blocked.Text)
	}
	ts.Setenv("BLOCKED", blocked.Data.Session)
	ts.Setenv("OPEN", start("Wait here").Data.Session)
	ts.Check(c.stop())
}

// binaryOf finds candor in the PATH of a script.
func binaryOf(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		for _, suffix := range []string{"", ".exe"} {
			name := filepath.Join(dir, term.ProgramName+suffix)
			if info, err := os.Stat(name); err == nil && !info.IsDir() {
				return name
			}
		}
	}
	ts.Fatalf("%s is not in the PATH of the script", term.ProgramName)
	return ""
}

// backdate sets the modification time of files to an hour ago.
func backdate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: backdate FILE…")
	}
	for _, name := range args {
		past := time.Now().Add(-time.Hour)
		ts.Check(os.Chtimes(ts.MkAbs(name), past, past))
	}
}

// change replaces one occurrence of a text in a file by one of the same length.
func change(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: change FILE OLD NEW")
	}
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	if !strings.Contains(string(data), args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, []byte(strings.Replace(string(data), args[1], args[2], 1)), 0o600))
}

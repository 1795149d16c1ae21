package harness_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/emits"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

const pythonCodes = `
python/E_PY_EXEC_FAIL
python/E_PY_SECURITY
python/E_PY_TIMEOUT
python/E_PY_SCRIPT_NOT_FOUND
python/E_PY_INVALID_PARAMS
common/E_NOT_INSTALLED
common/E_INPUT_TOO_LARGE
common/E_LIMIT_EXCEEDED
`

func startPython(t *testing.T, env ...string) *harness {
	t.Helper()
	return start(t, setup{env: env, flags: []string{"--domain", "python"}})
}

// The program that is asked for its version gets the environment, because it may be a script that looks for the
// interpreter.
func TestPythonGetsNoSecretOfAnotherDomain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "python3")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nenv > "+filepath.Join(dir, "env")+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	secrets := []string{"MCP_SQL_URL=postgres://a:hunter2@127.0.0.1/a", "NOTION_TOKEN=hunter2", "TAVILY_API_KEY=hunter2", "GITHUB_TOKEN=hunter2"}
	h := startPython(t, append(secrets, "MCP_PYTHON_CONFINE=auto", "MCP_PYTHON_PATH="+script)...)
	if got := h.python("1").code(); got != "common/E_NOT_INSTALLED" {
		t.Error(got)
	}
	if env, err := os.ReadFile(filepath.Join(dir, "env")); err != nil || !bytes.Contains(env, []byte("PATH=")) || bytes.Contains(env, []byte("hunter2")) {
		t.Errorf("the script has %v:\n%s", err, env)
	}
}

// python runs code.
func (h *harness) python(code string) reply {
	h.t.Helper()
	text, _ := json.Marshal(map[string]string{"code": code})
	return h.call("py/run", string(text))
}

func TestEveryCodeOfPythonIsEmitted(t *testing.T) {
	t.Parallel()
	h := startPython(t, "MCP_PYTHON_TIMEOUT_MS=2000", "MCP_PYTHON_MAX_TIMEOUT_MS=30000")
	run := func(code string) func(*testing.T) string {
		return func(*testing.T) string { return h.python(code).code() }
	}
	emits.Check(t, pythonCodes, map[string]func(*testing.T) string{
		"python/E_PY_EXEC_FAIL":        func(*testing.T) string { return h.call("py/run", `{"code":"1/0","timeoutMs":30000}`).code() },
		"python/E_PY_SECURITY":         run("import os"),
		"python/E_PY_TIMEOUT":          run("while True: pass"),
		"python/E_PY_INVALID_PARAMS":   func(*testing.T) string { return h.call("py/run", `{"code":"1","timeoutMs":30001}`).code() },
		"python/E_PY_SCRIPT_NOT_FOUND": func(*testing.T) string { return h.call("py/script", `{"name":"x"}`).code() },
		"common/E_INPUT_TOO_LARGE":     run(strings.Repeat("#", 2001)),
		"common/E_LIMIT_EXCEEDED": func(*testing.T) string {
			return h.call("py/run", `{"code":"while True: print('x' * 100000)","timeoutMs":30000}`).code()
		},
		"common/E_NOT_INSTALLED": func(t *testing.T) string {
			return startPython(t, "MCP_PYTHON_PATH=/no/such/python3").python("1").code()
		},
	})
}

// TestPythonEndsWithTheHarness kills the harness with SIGKILL while it runs code that ignores signals.
func TestPythonEndsWithTheHarness(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc on this system")
	}
	mark := fmt.Sprintf("mark-%d-%d", os.Getpid(), time.Now().UnixNano())
	h := startPython(t, "MCP_PYTHON_ALLOW=signal,os")
	code, _ := json.Marshal(map[string]any{
		"code": "import os, signal\nfor s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)\nos.setpgid(0, 0) if os.getpgrp() != os.getpid() else None\nwhile True: pass", "args": []string{mark}, "timeoutMs": 60_000,
	})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"py/run","params":` + string(code) + `}`)
	wait.Until(t, "code to run", func() bool { return running(mark) > 0 })
	h.kill()
	wait.Until(t, "code to end", func() bool { return running(mark) == 0 })
}

// running counts the processes with a word in their command line.
func running(mark string) (n int) {
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		if line, err := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline")); err == nil && bytes.Contains(line, []byte(mark)) {
			n++
		}
	}
	return n
}

// TestPythonReadsFilesOfOtherDomains gives a run a text, a note and binary data.
func TestPythonReadsFilesOfOtherDomains(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{"data.csv": "a;1\nb;41\n", "raw.bin": "\xff\x00"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, setup{env: []string{"MCP_DOMAINS=python,filesystem,memory-bank", "MCP_FS_ROOT=" + root, "MCP_PYTHON_CONFINE=auto"}})
	h.ask("mb/write", `{"file":"new/note.md","content":"häß"}`).result() // without fs/mkdir
	h.ask("mb/move", `{"from":"new/note.md","to":"other/note.md"}`).result()
	h.ask("mb/move", `{"from":"other/note.md","to":"note.md"}`).result()
	out := h.ask("py/run", `{"files":["fs/data.csv","mb/note.md","fs/raw.bin"],"code":"rows=[r.split(';') for r in files['fs/data.csv'].split()]\n`+
		`print(sum(int(r[1]) for r in rows), files['mb/note.md'], files['fs/raw.bin'])"}`).result()
	if text, _ := out.Path("stdout").Str(); text != "42 häß b'\\xff\\x00'\n" {
		t.Errorf("%s", out.Raw())
	}
	h.ask("py/run", `{"files":["fs/../x"],"code":"1"}`).fails(2500, "filesystem/E_FS_PATH_ESCAPE")
	h.ask("py/run", `{"files":["fs/none"],"code":"1"}`).fails(2502, "filesystem/E_FS_NOT_FOUND")
	h.ask("py/run", `{"files":["kg/none"],"code":"1"}`).fails(1000, "common/E_INVALID_PARAMS")
}

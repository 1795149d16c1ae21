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

	"github.com/candor-mcp/candor/internal/emits"
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

// python runs code.
func (h *harness) python(code string) reply {
	h.t.Helper()
	text, _ := json.Marshal(map[string]string{"code": code})
	return h.call("py/run", string(text))
}

func TestEveryCodeOfPythonIsEmitted(t *testing.T) {
	h := startPython(t, "MCP_PYTHON_TIMEOUT_MS=2000", "MCP_PYTHON_MAX_TIMEOUT_MS=30000")
	run := func(code string) func(*testing.T) string {
		return func(*testing.T) string { return h.python(code).code() }
	}
	emits.Check(t, pythonCodes, map[string]func(*testing.T) string{
		"python/E_PY_EXEC_FAIL":        run("1/0"),
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

func TestPythonRunsCode(t *testing.T) {
	h := startPython(t)
	if out, _ := h.python("print(sum(range(5)), 'é')").result().Path("stdout").Str(); out != "10 é\n" {
		t.Errorf("%q", out)
	}
	r := h.python("def f(x):\n    return 1 / x\n\nf(0)").fails(2000, "python/E_PY_EXEC_FAIL")
	if r.details() != `"ZeroDivisionError: division by zero (line 2)"` || r.retryMs() != -1 {
		t.Errorf("%s", r.m.Bytes())
	}
	r = h.python("x = [0]\nwhile True: x = x * 2").fails(2000, "python/E_PY_EXEC_FAIL")
	if !strings.Contains(r.details(), "memory") {
		t.Errorf("%s", r.m.Bytes())
	}
	version := h.call("py/version", `{}`).result()
	if confined, _ := version.Path("confined", "network").Bool(); !confined {
		t.Errorf("%s", version.Raw())
	}
}

// TestPythonDiesWithTheHarness kills the harness with SIGKILL while code runs that ignores signals.
func TestPythonDiesWithTheHarness(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc on this system")
	}
	mark := fmt.Sprintf("mark-%d-%d", os.Getpid(), time.Now().UnixNano())
	h := startPython(t, "MCP_PYTHON_ALLOW=signal,os")
	code, _ := json.Marshal(map[string]any{
		"code": "import os, signal\nfor s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)\nos.setpgid(0, 0) if os.getpgrp() != os.getpid() else None\nwhile True: pass", "args": []string{mark}, "timeoutMs": 60_000,
	})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"py/run","params":` + string(code) + `}`)
	waitFor(t, "code to run", func() bool { return running(mark) > 0 })
	h.kill()
	waitFor(t, "code to end", func() bool { return running(mark) == 0 })
}

// waitFor polls until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s", what)
		}
	}
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

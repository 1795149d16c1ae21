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

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/testing/emits"
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

func TestPythonRunsCode(t *testing.T) {
	t.Parallel()
	h := startPython(t, "MCP_PYTHON_TIMEOUT_MS=60000", "MCP_PYTHON_MAX_TIMEOUT_MS=60000")
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

// fakePython installs a program that describes itself as an interpreter, and runs a shell script instead of the check.
func fakePython(t *testing.T, check string) (path string) {
	t.Helper()
	if files, calls := guard.Confinable(); !files || !calls {
		t.Skip("this system cannot confine Python")
	}
	path = filepath.Join(t.TempDir(), "python3")
	description := fmt.Sprintf(`{"executable":%q,"prefix":"/usr","library":"/bin","version":"3.99.0","recent":true}`, path)
	script := "#!/bin/sh\ncase \"$*\" in\n*sys.base_prefix*) echo '" + description + "';;\n*'import ast'*) " + check + ";;\n*) echo ran;;\nesac\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPythonCheckWithoutResult makes the check fail for each cause, whether the code is at fault or not.
func TestPythonCheckWithoutResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check     string
		number    int64
		code      string
		retryable bool
		details   string
	}{
		"slow":           {"while :; do :; done", 2002, "python/E_PY_TIMEOUT", true, "the check of the code did not finish within 1500 ms; nothing was run"},
		"killed":         {"kill -9 $$", 4045, "candor/UNAVAILABLE", true, "the check of the code was ended by the system; nothing was run"},
		"stack overflow": {"kill -SEGV $$", 2000, "python/E_PY_EXEC_FAIL", false, "Python could not read the code; it is nested too deeply"},
		"no memory":      {"echo MemoryError >&2; exit 1", 1005, "common/E_INPUT_TOO_LARGE", false, "the code is too large to be checked"},
		"broken":         {"echo broken >&2; exit 127", -32603, "candor/INTERNAL_ERROR", false, ""},
		"no answer":      {"echo broken", -32603, "candor/INTERNAL_ERROR", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startPython(t, "MCP_PYTHON_PATH="+fakePython(t, c.check), "MCP_PYTHON_CHECK_TIMEOUT_MS=1500")
			r := h.python("1").fails(c.number, c.code)
			if retryable, _ := r.m.Error().Path("data", "retryable").Bool(); retryable != c.retryable {
				t.Errorf("retryable is not %v: %s", c.retryable, r.m.Bytes())
			}
			if details, _ := r.m.Error().Path("data", "details").Str(); details != c.details {
				t.Errorf("details: %s", r.m.Bytes())
			}
		})
	}
}

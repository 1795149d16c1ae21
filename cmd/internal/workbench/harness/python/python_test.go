package python_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/python"
	commoncode "github.com/candor-mcp/candor/codes/common"
	pythoncode "github.com/candor-mcp/candor/codes/python"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

func init() { runtime.LockOSThread() } // TestMain runs on the first thread

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		syscall.Exit(guard.Main(os.Args[2:])) // os.Exit waits a second under the race detector
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise a guard under the race detector would exit a second late
	flag.Parse()
	testbinary.Parallel(4)
	os.Exit(m.Run())
}

// patience limits runs of code that ends by itself or at another limit, on a loaded machine.
const patience = 5 * time.Minute

// newDomain returns a domain with the test binary as its guard.
func newDomain(t *testing.T, c python.Config) *domain.Domain {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.Guard = []string{path, "guard"}
	d := python.New(c)
	return &d
}

// call calls a method and returns its result as JSON, or its error.
func call(t *testing.T, d *domain.Domain, method string, params map[string]any) (string, *candor.Error) {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Methods {
		if m.Name != method {
			continue
		}
		result, err := m.Run(t.Context(), text)
		if err != nil {
			var e *candor.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s: not an error with a code: %v", method, err)
			}
			return "", e
		}
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), nil
	}
	t.Fatalf("no method %s", method)
	return "", nil
}

func details(e *candor.Error) string {
	text, _ := json.Marshal(e.Details())
	var s string
	var run struct{ Message string }
	if json.Unmarshal(text, &s) != nil && json.Unmarshal(text, &run) != nil {
		return string(text)
	}
	return s + run.Message
}

// run runs code that must succeed and returns its output.
func run(t *testing.T, d *domain.Domain, code string) string {
	t.Helper()
	text, e := call(t, d, "py/run", map[string]any{"code": code})
	if e != nil {
		t.Fatalf("%v: %s", e, details(e))
	}
	var r python.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r.Stdout
}

// fails runs code that must fail with the given error code and details that contain the text.
func fails(t *testing.T, d *domain.Domain, want candor.Code, text string, params map[string]any) {
	t.Helper()
	failsWith(t, d, want, []string{text}, params)
}

// failsWith is fails for details that contain several texts.
func failsWith(t *testing.T, d *domain.Domain, want candor.Code, texts []string, params map[string]any) {
	t.Helper()
	result, e := call(t, d, "py/run", params)
	if e == nil {
		t.Errorf("%v succeeded: %s", params, result)
		return
	}
	for _, text := range texts {
		if e.Code() != want || !strings.Contains(details(e), text) {
			t.Errorf("%v: %v %q, want %v %q", params, e.Code(), details(e), want, text)
		}
	}
	if text := e.Message() + details(e); strings.Contains(text, " /") || strings.Contains(text, "'/") {
		t.Errorf("%v: a path in %q", params, text)
	}
	if e.Retry().Retryable() {
		t.Errorf("%v: retryable", params)
	}
}

func TestCodeRuns(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{})
	text, e := call(t, d, "py/run", map[string]any{
		"code": "import sys, math, json\nprint(json.dumps([sys.argv[1:], math.floor(2.5)]), 'é')\nprint('warned', file=sys.stderr)",
		"args": []string{"-c", "two words", "ü"},
	})
	if e != nil {
		t.Fatal(e, details(e))
	}
	var r python.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if want := "[[\"-c\", \"two words\", \"\\u00fc\"], 2] é\n"; r.Stdout != want || r.Stderr != "warned\n" || r.Truncated {
		t.Errorf("%q %q, want %q", r.Stdout, r.Stderr, want)
	}
	common := `
import collections, dataclasses, datetime, decimal, functools, io, itertools, random, re, statistics, time, typing, uuid, csv, zoneinfo, hashlib
from urllib.parse import quote
@dataclasses.dataclass
class P:
    x: int
    _y: int = 3
    def __add__(self, o): return P(self.x + o.x)
class Q(P):
    def __init__(self, x): super().__init__(x); self._z = getattr(self, "x")
print(Q(1) + P(2), type(Q(1)).__name__, io.StringIO("a").read(), uuid.UUID(int=1), datetime.date(2020, 1, 2), zoneinfo.ZoneInfo("UTC"))
if __name__ == "__main__": print(hashlib.sha256(b"x").hexdigest()[:4], sum(x for x in range(10)), f"{1.5:.2f}", time.time() > 0)
`
	if got := run(t, d, common); !strings.Contains(got, "P(x=3, _y=3) Q a") || !strings.Contains(got, "2d71 45 1.50 True") {
		t.Errorf("%q", got)
	}
	if got := run(t, d, "import sys\nprint(1)\nsys.exit(0)"); got != "1\n" {
		t.Errorf("%q", got)
	}
}

func TestPolicyRefusesBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{})
	for code, reasons := range map[string][]string{
		"print(1)\nimport os":                             {"import of os (line 2)"},
		"import subprocess, socket, ctypes":               {"import of subprocess (line 1), import of socket (line 1), import of ctypes (line 1)"},
		"import sys\nsys.modules['os']":                   {"sys.modules"},
		"import sys\ns = sys\nprint(s)":                   {"use of sys other than sys.name"},
		"import sys as s\ns._getframe()":                  {"sys._getframe"},
		"().__class__.__bases__[0].__subclasses__()":      {"attribute __subclasses__"},
		"getattr((), '__class' + '__')":                   {"getattr"},
		"match print:\n    case object(__self__=b): pass": {"attribute __self__"},

		"import os.path\nfrom importlib import import_module\nimport urllib.request\nfrom urllib import request\nfrom sys import modules": {
			"import of os.path (line 1)", "import of importlib (line 2)", "import of urllib.request (line 3)", "import of urllib.request (line 4)", "import of sys.modules (line 5)",
		},
		"import importlib as math\nfrom . import x\nfrom math import *\nfrom json import codecs": {
			"import of importlib (line 1)", "relative import", "import of all names of math", "attribute codecs (line 4)",
		},
		"open('x', 'w')\neval('1')\nexec('1')\ncompile('1', '', 'exec')\n__import__('os')": {
			"open (line 1)", "eval (line 2)", "exec (line 3)", "compile (line 4)", "__import__ (line 5)",
		},
		"f = open\ng = getattr\n__builtins__\nclass A:\n    x = globals()": {"open (line 1)", "getattr (line 2)", "__builtins__ (line 3)", "globals (line 5)"},
		"(lambda: 0).__globals__\ngetattr((), '__subclasses__')":           {"attribute __globals__ (line 1)", "attribute __subclasses__ (line 2)"},
		"def f():\n    yield\nf().gi_frame\ntry: 1/0\nexcept Exception as e: e.__traceback__.tb_frame": {
			"attribute gi_frame (line 3)", "attribute tb_frame (line 5)",
		},
		"import json, random, uuid\njson.codecs.open('x')\nrandom._os.system('id')\nuuid.os": {
			"attribute codecs (line 2)", "attribute _os (line 3)", "attribute os (line 4)",
		},
		"import io, operator, string\nio.open('x')\noperator.attrgetter('__class__')\nstring.Formatter().get_field('0.x', (), {})": {
			"io.open (line 2)", "attribute attrgetter (line 3)", "attribute get_field (line 4)",
		},
	} {
		failsWith(t, d, pythoncode.Security, reasons, map[string]any{"code": code})
	}
}

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{Allow: []string{"os"}, Timeout: patience})
	for code, want := range map[string]string{
		"x = 1\ndef f():\n    return x / 0\nf()": "ZeroDivisionError: division by zero (line 3)",
		"import json\n\njson.loads('{')":         "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1) (line 3)",
		"print(1":                                "SyntaxError: '(' was never closed (line 1)",
		"  x = 1":                                "IndentationError: unexpected indent (line 1)",
		"return 1":                               "SyntaxError: 'return' outside function (line 1)",
		"import sys\nsys.exit(3)":                "exit status 3",
		"import sys\nsys.exit('no input')":       "exit status 1: no input",
		"raise SystemExit(2)":                    "exit status 2",
		"x = 'a' * (1 << 40)":                    "memory: the code needed more than 256 MiB (line 1)",
		"x = []\nwhile True: x.append('a' * 1000000 + str(len(x)))":             "memory: the code needed more than 256 MiB (line 2)",
		"class Odd(Exception): pass\nraise Odd('a\\nb')":                        "Odd: a (line 2)",
		"try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e": "KeyError: 'k' (line 4)",
		"def f(): return f()\nf()":                                              "RecursionError: maximum recursion depth exceeded (line 1)",
		"import os\nos.abort()":                                                 "ended by signal: aborted",
		strings.Repeat("(", 900) + strings.Repeat(")", 900):                     "too many nested parentheses",
		strings.Repeat("-", 1900) + "1":                                         "nested too deeply",
	} {
		fails(t, d, pythoncode.ExecFail, want, map[string]any{"code": code})
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{MaxTimeout: 20 * time.Second})
	fails(t, d, commoncode.InputTooLarge, "code has 2001 characters, the limit is 2000", map[string]any{"code": strings.Repeat("é", 2001)})
	fails(t, d, pythoncode.InvalidParams, "code is empty", map[string]any{"code": " \n"})
	fails(t, d, pythoncode.InvalidParams, "NUL", map[string]any{"code": "x\x00"})
	fails(t, d, pythoncode.InvalidParams, "args[1] holds a NUL", map[string]any{"code": "1", "args": []string{"", "\x00"}})
	fails(t, d, pythoncode.InvalidParams, "timeoutMs is larger than the limit of 20000", map[string]any{"code": "1", "timeoutMs": 20001})
	fails(t, d, pythoncode.InvalidParams, "timeoutMs", map[string]any{"code": "1", "timeoutMs": int64(1) << 62})
	fails(t, d, commoncode.InputTooLarge, "args", map[string]any{"code": "1", "args": make([]string, 33)})
	fails(t, d, commoncode.InputTooLarge, "args", map[string]any{"code": "1", "args": []string{strings.Repeat("x", 9000)}})
	if got := run(t, d, "x = '"+strings.Repeat("é", 1960)+"'; print(len(x))"); got != "1960\n" {
		t.Errorf("%q", got)
	}
}

// deletedMaps maps files that it deletes, which nothing else counts.
const deletedMaps = `
import ctypes as c, os
mmap = c.CDLL(None).mmap
mmap.restype, mmap.argtypes = c.c_size_t, [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
for i in range(200):
    with open('x', 'wb+') as f:
        f.truncate(1 << 24)
        if mmap(None, 1 << 24, 1, 1, f.fileno(), 0) + 1 == 1 << 64: raise MemoryError
    os.remove('x')`

// TestHostileCodeIsConfined runs code that passes the policy, to test the confinement.
func TestHostileCodeIsConfined(t *testing.T) {
	t.Parallel()
	if files, calls := guard.Confinable(); !files || !calls {
		t.Skip("this kernel has no Landlock or no seccomp filters")
	}
	system := "/usr/bin/python3" // its folders hold more than its own files
	if _, err := os.Stat(system); err != nil {
		system = ""
	}
	d := newDomain(t, python.Config{Path: system, Allow: []string{"os", "subprocess", "socket", "open", "signal", "time", "threading", "resource", "ctypes"}, Timeout: patience})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := "import os, socket, subprocess, sys\nsecret, outside, parent, own = sys.argv[1:]\n"
	for _, attempt := range []string{
		"os.fork()", "subprocess.run(['/bin/true'])", "socket.create_connection(('127.0.0.1', 80))", "socket.socket(socket.AF_UNIX)",
		"open(secret)", "open(secret, 'w')", "open('../source.py', 'w')", "open('/proc/self/environ')", "os.remove(secret)", "os.chmod(secret, 0o777)",
		"os.symlink(secret, 'link')", "os.rename(secret, 'stolen')", "os.kill(os.getppid(), 9)", "os.kill(int(parent), 9)", "os.listdir(outside)",
		"os.listdir('/usr/bin')", "os.listdir('/usr/local/etc')", "os.execv('/bin/sh', ['sh', '-c', 'echo ran'])",
		"os.execv(own, ['python3', '-c', 'print(1)'])", // so its loader, which may be executed, runs no other program either
	} {
		code += fmt.Sprintf("try: %s; print(%q)\nexcept PermissionError: pass\n", attempt, attempt)
	}
	text, e := call(t, d, "py/run", map[string]any{"code": code, "args": []string{secret, outside, strconv.Itoa(os.Getpid()), cmp.Or(system, "/bin/sh")}})
	if e != nil {
		t.Fatal(e, details(e))
	}
	if !strings.Contains(text, `"stdout":""`) {
		t.Errorf("not refused: %s", text)
	}
	for code, want := range map[string]string{
		"import os\nwhile True: os.fork()":                            "PermissionError",
		"import os\nos.link(" + strconv.Quote(secret) + ", 'link')":   "Error",
		"import resource as r\nr.setrlimit(r.RLIMIT_FSIZE, (-1, -1))": "Error",
		"import ctypes\nctypes.CDLL(None).syscall(57) >= 0 or 1/0":    "ZeroDivisionError", // fork by its number
		"import os\nfiles = [open(str(i), 'wb') for i in range(100)]": "Too many open files",
		deletedMaps: "memory: the code needed more than",
		"f = open('big', 'wb')\nwhile True: f.write(b'x' * 1000000)":                                                         "file size: the code wrote a file of more than 16 MiB",
		"import threading, time\nfor i in range(10000): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()": "RuntimeError: can't start new thread",
	} {
		fails(t, d, pythoncode.ExecFail, want, map[string]any{"code": code})
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("%q %v", text, err)
	}
	if got := run(t, d, "open('a', 'w').write('x'); print(open('a').read())\nimport os; print(os.listdir('.'), dict(os.environ)['HOME'])\ntry: input()\nexcept EOFError: print('no input')"); got != "x\n['a'] .\nno input\n" {
		t.Errorf("%q", got)
	}
}

func TestLimitsStopCode(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{Timeout: patience, Allow: []string{"signal", "open", "os"}})
	fails(t, d, pythoncode.Timeout, "stopped after 300 ms", map[string]any{
		"code": "import signal\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: pass", "timeoutMs": 300,
	})
	fails(t, d, commoncode.LimitExceeded, "printed more than", map[string]any{"code": "while True: print('x' * 100000)"})
	fails(t, d, commoncode.LimitExceeded, "bytes of files", map[string]any{
		"code": "i = 0\nwhile True:\n    i += 1\n    open(str(i), 'wb').write(b'x' * 8000000) if i < 20 else None",
	})
	text, e := call(t, d, "py/run", map[string]any{"code": "import sys\nprint('begin' + 'x' * 1000000 + 'end')"})
	if e != nil {
		t.Fatal(e)
	}
	var r python.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Truncated || len(r.Stdout) > 80<<10 || !strings.HasPrefix(r.Stdout, "begin") || !strings.HasSuffix(r.Stdout, "end\n") {
		t.Errorf("%v %d", r.Truncated, len(r.Stdout))
	}
	fails(t, d, pythoncode.ExecFail, "ZeroDivisionError: division by zero (line 3)", map[string]any{
		"code": "import sys\nsys.stderr.write('x' * 1000000 + '\\n')\n1/0",
	})
}

func TestCancelledCallLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := newDomain(t, python.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	_, err := d.Methods[0].Run(ctx, json.RawMessage(`{"code": "while True: pass"}`))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

func TestParallelRunsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{Parallel: 2, Queue: 8, Timeout: patience})
	var mu sync.Mutex
	var wait sync.WaitGroup
	counts := map[string]int{}
	for i := range 100 {
		wait.Go(func() {
			_, err := d.Methods[0].Run(t.Context(), json.RawMessage(fmt.Sprintf(`{"code": "import time; time.sleep(0.2); print(%d)"}`, i)))
			outcome := "ok"
			var e *candor.Error
			if errors.As(err, &e) {
				outcome = e.Code().String()
				if !e.Retry().Retryable() {
					t.Error("a full queue is not retryable")
				}
			}
			mu.Lock()
			defer mu.Unlock()
			counts[outcome]++
		})
	}
	wait.Wait()
	if counts["ok"] < 10 || counts["ok"]+counts[commoncode.LimitExceeded.String()] != 100 || len(counts) != 2 {
		t.Errorf("%v", counts)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"hello.py": "import sys\nprint('hello', *sys.argv[1:])", "bad.py": "import os", "notes.txt": "", "fails.py": "\n\n1/0"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("/etc/passwd", filepath.Join(folder, "link.py"))
	_ = os.Mkdir(filepath.Join(folder, "folder.py"), 0o700)
	d := newDomain(t, python.Config{Scripts: folder})
	if text, e := call(t, d, "py/scripts", nil); e != nil || text != `{"scripts":["bad.py","fails.py","hello.py"]}` {
		t.Errorf("%s %v", text, e)
	}
	for _, name := range []string{"hello", "hello.py"} {
		if text, e := call(t, d, "py/script", map[string]any{"name": name, "args": []string{"you"}}); e != nil || !strings.Contains(text, `"hello you\n"`) {
			t.Errorf("%s %v", text, e)
		}
	}
	if _, e := call(t, d, "py/script", map[string]any{"name": "bad"}); e == nil || e.Code() != pythoncode.Security {
		t.Errorf("%v", e)
	}
	if _, e := call(t, d, "py/script", map[string]any{"name": "fails"}); e == nil || details(e) != "ZeroDivisionError: division by zero (line 3)" {
		t.Errorf("%v", e)
	}
	for _, name := range []string{"missing", "../hello", "/etc/passwd", "", "notes.txt", "link", "folder", "a\x00b", ".", "hello.py/"} {
		if _, e := call(t, d, "py/script", map[string]any{"name": name}); e == nil || e.Code() != pythoncode.ScriptNotFound {
			t.Errorf("%q: %v", name, e)
		}
	}
	if _, e := call(t, newDomain(t, python.Config{}), "py/script", map[string]any{"name": "x"}); e == nil || !strings.Contains(details(e), "MCP_PYTHON_SCRIPTS") {
		t.Errorf("%v", e)
	}
}

func TestMissingInterpreterIsNamed(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no; exit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]python.Config{
		"no such file": {Path: "/no/such/python3"}, "broken": {Path: broken},
	} {
		d := newDomain(t, c)
		if health := d.Health(t.Context()); name != "broken" && (health.OK || !strings.Contains(health.Details, "MCP_PYTHON_PATH")) {
			t.Errorf("%s: %+v", name, health)
		}
		fails(t, d, commoncode.NotInstalled, "MCP_PYTHON_PATH", map[string]any{"code": "1"})
	}
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nkill -9 $$\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, e := call(t, newDomain(t, python.Config{Path: broken}), "py/run", map[string]any{"code": "1"}); e == nil || e.Code() != candor.CodeUnavailable || !e.Retry().Retryable() {
		t.Errorf("killed: %v", e)
	}
	if d := newDomain(t, python.Config{}); !d.Health(t.Context()).OK {
		t.Error("not healthy")
	}
}

func TestUnconfinedRunsAreRefused(t *testing.T) {
	t.Parallel()
	d := python.New(python.Config{}) // without a guard
	fails(t, &d, commoncode.Unsupported, "MCP_PYTHON_CONFINE=auto", map[string]any{"code": "print(1)"})
	if d.Health(t.Context()).OK || d.Methods[0].ReadOnly {
		t.Error("healthy or read-only")
	}
	d = python.New(python.Config{Confine: python.ConfineAuto})
	if got := run(t, &d, "print(1)"); got != "1\n" {
		t.Errorf("%q", got)
	}
}

// TestMemoryLimitCoversSharedMemory checks that shared memory, which does not count for the limit of the kernel, is
// refused.
func TestMemoryLimitCoversSharedMemory(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{Allow: []string{"mmap"}})
	for name, code := range map[string]string{
		"default": "import mmap\nm = [mmap.mmap(-1, 10**8) for i in range(4)]\nfor x in m: x.write(b'x' * 10**7)\nprint('done')",
		"private": "import mmap\nm = [mmap.mmap(-1, 10**8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for i in range(4)]\nprint('done')",
	} {
		if result, err := call(t, d, "py/run", map[string]any{"code": code}); err == nil || err.Code() != pythoncode.ExecFail {
			t.Errorf("%s: %s %v", name, result, err)
		}
	}
	if result, err := call(t, d, "py/run", map[string]any{"code": "import mmap\nm = mmap.mmap(-1, 10**6, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nprint(len(m))"}); err != nil || !strings.Contains(result, "1000000") {
		t.Errorf("private memory: %s %v", result, err)
	}
}

// TestDeepFoldersAreStopped has directories that are too deep for a path, which hide files from the size limit and take
// long to remove.
func TestDeepFoldersAreStopped(t *testing.T) {
	t.Parallel()
	d := newDomain(t, python.Config{Allow: []string{"os"}, Timeout: patience})
	_, err := call(t, d, "py/run", map[string]any{"code": "import os\nwhile True:\n  os.mkdir('d')\n  os.chdir('d')"})
	if err == nil || err.Code() != commoncode.LimitExceeded || !strings.Contains(fmt.Sprint(err.Details()), "too deep") {
		t.Errorf("%v", err)
	}
}

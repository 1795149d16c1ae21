//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/democmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
)

// setup is a sound set-up, into which a test plants a fault before it runs the doctor.
type setup struct {
	t      *testing.T
	dir    string
	self   string // this program
	yaml   string // text of candor.yaml
	client string // text of mcp.json
	env    []string
	args   []string
	clock  func() time.Time
	second string // witness copy of the ledger
	start  bool   // start the servers
}

func (s *setup) file(name, text string) string {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *setup) script(name, text string) string {
	path := s.file(name, "#!/bin/sh\n"+text)
	if err := os.Chmod(path, 0o700); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *setup) ledger() string { return filepath.Join(s.dir, "ledger") }

// write makes a ledger with one entry and exports its key.
func (s *setup) write() {
	l, err := ledger.Open(s.ledger(), ledger.Options{Instance: "test", WitnessCopy: s.second, Clock: s.clock})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := l.Append(s.t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "late"))); err != nil {
		s.t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		s.t.Fatal(err)
	}
	keys, err := ledger.PublicKeys(s.ledger())
	if err != nil {
		s.t.Fatal(err)
	}
	s.file("signer.pub", strings.Join(keys, "\n")+"\n")
}

// soundSetup returns a set-up in which nothing is wrong.
func soundSetup(t *testing.T) *setup {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{t: t, dir: t.TempDir(), self: self}
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "candor")); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"HOME=" + s.dir, "PATH=" + bin + ":/usr/bin:/bin", "SHOP_TOKEN=abc"}
	getenv := func(name string) string { return map[string]string{"HOME": s.dir}[name] }
	if s.second, err = plug.WitnessCopy(s.ledger(), getenv); err != nil {
		t.Fatal(err)
	}
	s.yaml = fmt.Sprintf("version: 1\nlisten: 127.0.0.1:%d\nledger: ledger\nupstreams:\n  demo:\n    command: [%q, %s]\n  shop:\n    url: %s\n    headers: {Authorization: \"Bearer ${SHOP_TOKEN}\"}\n",
		freePort(t), self, democmd.DemoServerName, httpServer(t))
	s.client = fmt.Sprintf(`{"mcpServers":{"orders":{"command":"candor","args":["wrap","--",%q,%q]}}}`, self, democmd.DemoServerName)
	s.args = []string{"--ledger", s.ledger(), "--key", filepath.Join(s.dir, "signer.pub"), "--min-free", "1", "--gui-path", bin + ":/usr/bin:/bin"}
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T is not a TCP address", l.Addr())
	}
	return address.Port
}

// httpServer returns the URL of a server over streamable HTTP that wants the token abc.
func httpServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer abc" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodDelete:
		case bytes.Contains(body, []byte(`"initialize"`)):
			w.Header().Set("Mcp-Session-Id", "s1")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"2"}}}`)
		case bytes.Contains(body, []byte(`"tools/list"`)) && r.Header.Get("Mcp-Session-Id") == "s1" && r.Header.Get("Mcp-Protocol-Version") != "":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{},{}]}}\n\n")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// run runs the doctor and returns its exit code and what it found.
func (s *setup) run() (code int, findings []doctor.Finding) {
	s.t.Helper()
	args := append([]string{"doctor", "--json"}, s.args...)
	if s.yaml != "" {
		args = slices.Insert(args, 1, "--config", s.file("candor.yaml", s.yaml))
	}
	if s.client != "" {
		args = slices.Insert(args, 1, "--from", s.file("mcp.json", s.client))
	}
	if !s.start {
		args = slices.Insert(args, 1, "--no-start")
	}
	cmd := command(s.t, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		s.t.Fatal(err)
	}
	var report struct {
		OK     bool
		Checks []doctor.Finding
	}
	if err := json.Unmarshal(out, &report); err != nil {
		s.t.Fatalf("%v\n%s\n%s", err, out, complaints.String())
	}
	code = cmd.ProcessState.ExitCode()
	if report.OK != (code == term.ExitOK) {
		s.t.Errorf("ok is %v with exit code %d", report.OK, code)
	}
	return code, report.Checks
}

// faults returns the faults of the findings, and checks that each has a text and a next step.
func faults(t *testing.T, findings []doctor.Finding) []string {
	t.Helper()
	list := []string{}
	for _, f := range findings {
		bad := f.Result == doctor.Warning || f.Result == doctor.Failed
		if f.Text == "" || bad != (f.Fault != "") || bad != (f.Next != "") {
			t.Errorf("incomplete: %+v", f)
		}
		if bad {
			list = append(list, f.Fault)
		}
	}
	return list
}

// TestDoctorFindsNothingInASoundSetUp runs every check and starts every server.
func TestDoctorFindsNothingInASoundSetUp(t *testing.T) {
	s := soundSetup(t)
	s.start = true
	s.write()
	code, findings := s.run()
	if got := faults(t, findings); code != term.ExitOK || len(got) > 0 {
		t.Errorf("exit code %d, %v\n%+v", code, got, findings)
	}
	for _, f := range findings {
		if f.Result != doctor.OK {
			t.Errorf("not checked: %+v", f)
		}
	}
	all := fmt.Sprint(findings)
	for _, want := range []string{"orders 0.0.1 answers, with 6 tools", "shop 2 answers, with 2 tools"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if strings.Contains(all, "abc") {
		t.Errorf("the token is in %s", all)
	}
}

// TestDoctorFindsPlantedFaults plants one fault at a time. The doctor must find it, and nothing else except its consequences.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	for _, c := range plantedFaults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := soundSetup(t)
			s.start = c.start
			if c.before != nil {
				c.before(s)
			}
			s.write()
			if c.after != nil {
				c.after(s)
			}
			code, findings := s.run()
			want := strings.Fields(c.want)
			if diff := cmp.Diff(want, faults(t, findings)); diff != "" {
				t.Errorf("faults (- planted, + found):\n%s\n%+v", diff, findings)
			}
			if (code == term.ExitOK) != c.warns || code > term.ExitFound {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// only makes the configuration one upstream.
func (s *setup) only(upstream string) {
	s.yaml = "version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  one: " + upstream + "\n"
	s.client = ""
}

// serves makes the only server a shell script.
func (s *setup) serves(text string) { s.only(fmt.Sprintf("{command: [%q]}", s.script("server", text))) }

const hello = `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x"}}}'; read line; read line; `

var plantedFaults = []struct {
	name   string
	want   string       // faults, the planted one first or with its consequences
	warns  bool         // it is only a warning
	start  bool         // the servers must be started
	before func(*setup) // before the ledger is written
	after  func(*setup)
}{
	{name: "candor is not on the PATH", want: "candor-not-on-path", before: func(s *setup) { s.args = append(s.args, "--gui-path", "/usr/bin:/bin") }},
	{name: "another candor is found first", want: "other-candor", warns: true, before: func(s *setup) {
		s.script("candor", "")
		s.args = append(s.args, "--gui-path", s.dir+":/usr/bin:/bin")
	}},
	{name: "a shell finds the command, the desktop does not", want: "command-not-on-gui-path", before: func(s *setup) {
		s.script("tool", "")
		s.env = append(s.env, "PATH="+s.dir+":"+filepath.Join(s.dir, "bin"))
		s.client = `{"mcpServers":{"a":{"command":"tool"}}}`
	}},
	{name: "the command does not exist", want: "command-missing", before: func(s *setup) { s.client = `{"mcpServers":{"a":{"command":"nonexistent-tool"}}}` }},
	{name: "candor was moved", want: "wrapper-missing", before: func(s *setup) {
		s.client = strings.Replace(s.client, `"command":"candor"`, `"command":"/nonexistent/candor"`, 1)
	}},
	{name: "the ledger is below a file", want: "ledger-not-a-folder", after: func(s *setup) { s.args = append(s.args, "--ledger", s.file("plain", "")+"/ledger") }},
	{name: "the ledger cannot be written", want: readOnlyFaults(), before: func(s *setup) {
		dir := "/proc/sys" // also root cannot create files there
		if os.Getuid() != 0 {
			dir = filepath.Join(s.dir, "locked")
			if err := os.Mkdir(dir, 0o555); err != nil {
				s.t.Fatal(err)
			}
		}
		s.args = append(s.args, "--ledger", dir+"/ledger", "--min-free", "0")
	}},
	{name: "others may read the ledger", want: "ledger-public", after: func(s *setup) { s.chmod("ledger", 0o755) }},
	{name: "others may read the key", want: "key-public", after: func(s *setup) { s.chmod("ledger/keys/signer.key", 0o644) }},
	{name: "the disk has little space", want: "disk-low", warns: true, before: func(s *setup) { s.args = append(s.args, "--min-free", "900000000GiB") }},
	{name: "a process keeps the lock", want: "ledger-locked", after: func(s *setup) {
		root, err := os.OpenRoot(s.ledger())
		if err != nil {
			s.t.Fatal(err)
		}
		f, err := filelock.Open(root, "lock")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _, _ = f.Close(), root.Close() })
	}},
	{name: "an entry was changed", want: "ledger-damaged", after: (*setup).flip},
	{name: "the clock was ahead", want: "clock-ahead", warns: true, before: func(s *setup) { s.clock = func() time.Time { return time.Now().Add(48 * time.Hour) } }},
	{name: "no copy of the key", want: "key-only-here", warns: true, before: func(s *setup) { s.args = append(s.args, "--key", "") }},
	{name: "another key signs", want: "key-differs", after: func(s *setup) { s.file("signer.pub", "another+key\n") }},
	{name: "no witness copy", want: "no-witness-copy", warns: true, before: func(s *setup) { s.second = "" }},
	{name: "the ledger is off", want: "ledger-off", warns: true, before: func(s *setup) { s.args = append(s.args, "--ledger", "none") }},
	{name: "the configuration has a mistake", want: "config-invalid", before: func(s *setup) { s.yaml += "modee: strict\n" }},
	{name: "the configuration is for a newer program", want: "config-newer", before: func(s *setup) { s.yaml = strings.Replace(s.yaml, "version: 1", "version: 2", 1) }},
	{name: "the configuration does not exist", want: "config-missing", before: func(s *setup) {
		s.yaml = ""
		s.args = append(s.args, "--config", "nowhere.yaml")
	}},
	{name: "two servers have one name in the configuration", want: "config-invalid", before: func(s *setup) { s.yaml += "  shop: {url: http://127.0.0.1:9/}\n" }},
	{name: "two servers have one name in a file of a client", want: "duplicate-server", before: func(s *setup) {
		s.client = `{"mcpServers":{"a":{"command":"sh"},"a":{"command":"sh"}}}`
	}},
	{name: "an entry of a client cannot be read", want: "entry-invalid", before: func(s *setup) {
		s.client = `{"mcpServers":{"a":{"command":"sh"},"b":{"args":[]}}}`
	}},
	{name: "the folder of a server does not exist", want: "folder-missing", start: true, before: func(s *setup) {
		s.client = `{"mcpServers":{"a":{"command":"sh","cwd":"/nonexistent"}}}`
	}},
	{name: "a file of a client is damaged", want: "client-file-invalid", before: func(s *setup) { s.client = `{"mcpServers":` }},
	{name: "a variable is not set", want: "variable-unset", start: true, before: func(s *setup) { s.env = append(s.env, "SHOP_TOKEN=") }},
	{name: "the port is in use", want: "address-in-use", before: func(s *setup) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = l.Close() })
		go http.Serve(l, http.NotFoundHandler()) //nolint:errcheck // ends with the listener
		s.yaml = strings.Replace(s.yaml, "listen: ", "listen: "+l.Addr().String()+" #", 1)
	}},
	{name: "the proxy does not answer", want: "proxy-unreachable upstream-unreachable", start: true, before: func(s *setup) {
		s.only("{url: http://shop.example/mcp}")
		s.env = append(s.env, "HTTP_PROXY=http://user:hunter2@127.0.0.1:9")
	}},
	{name: "a server exits", want: "server-exited", start: true, before: func(s *setup) { s.serves("echo 'fatal: no database' >&2; exit 3\n") }},
	{name: "a server does not answer", want: "server-silent", start: true, before: func(s *setup) {
		s.serves("exec sleep 60\n")
		s.args = append(s.args, "--timeout", "500ms")
	}},
	{name: "a server refuses to list its tools", want: "server-tools", start: true, before: func(s *setup) {
		s.serves(hello + `echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no licence"}}'; read line`)
	}},
	{name: "a server prints to its output", want: "server-noise", warns: true, start: true, before: func(s *setup) {
		s.serves("echo Listening on stdio\n" + hello + `echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; read line`)
	}},
	{name: "nothing listens at the address of a server", want: "upstream-unreachable", start: true, before: func(s *setup) { s.only("{url: http://127.0.0.1:9/mcp}") }},
	{name: "a server wants other credentials", want: "upstream-refused", start: true, before: func(s *setup) { s.env = append(s.env, "SHOP_TOKEN=wrong") }},
}

// readOnlyFaults returns the faults of a folder that cannot be written. Root can write everywhere except in /proc, which has no space.
func readOnlyFaults() string {
	if os.Getuid() == 0 {
		return "ledger-read-only disk-full"
	}
	return "ledger-read-only"
}

func (s *setup) chmod(name string, mode os.FileMode) {
	if err := os.Chmod(filepath.Join(s.dir, name), mode); err != nil {
		s.t.Fatal(err)
	}
}

// flip changes one byte of an entry.
func (s *setup) flip() {
	segments, err := filepath.Glob(filepath.Join(s.ledger(), "*", "*.jsonl"))
	if err != nil || len(segments) == 0 {
		s.t.Fatal(segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		s.t.Fatal(err)
	}
	i := bytes.Index(data, []byte("TIMEOUT"))
	if i < 0 {
		s.t.Fatalf("no entry in %s", data)
	}
	data[i] = 'L'
	if err := os.WriteFile(segments[0], data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestDoctorReadsItsOwnGateway checks that a port that is used by a running gateway is not a fault.
func TestDoctorReadsItsOwnGateway(t *testing.T) {
	s := soundSetup(t)
	s.write()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"detail":"There is no upstream at this path."}`)
	}))
	defer page.Close()
	s.yaml = strings.Replace(s.yaml, "listen: ", "listen: "+strings.TrimPrefix(page.URL, "http://")+" #", 1)
	if _, findings := s.run(); len(faults(t, findings)) > 0 {
		t.Errorf("%+v", findings)
	}
}

// TestInterruptedDoctorLeavesNoProcess interrupts the doctor while a server with a child process of its own starts.
func TestInterruptedDoctorLeavesNoProcess(t *testing.T) {
	s := soundSetup(t)
	server := s.script("server", "trap '' TERM\nsleep 300 &\necho $$ $! > pids.new\nmv pids.new pids\nwhile true; do sleep 1; done\n")
	cmd := command(t, "doctor", "--ledger", "none", "--", server)
	cmd.Env, cmd.Dir = s.env, s.dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for end := time.Now().Add(20 * time.Second); len(pids) == 0; time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(filepath.Join(s.dir, "pids"))
		pids = strings.Fields(string(data))
		if time.Now().After(end) {
			t.Fatal("the server was not started")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is checked
	if code := cmd.ProcessState.ExitCode(); code != term.ExitUsage || !strings.Contains(complaints.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, complaints.String())
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

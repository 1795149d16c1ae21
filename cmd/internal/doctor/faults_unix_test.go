//go:build unix

package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/ledger"
)

// setup is a sound set-up, into which a test plants a fault before it runs the checks.
type setup struct {
	Options
	t      *testing.T
	dir    string
	yaml   string // text of candor.yaml
	client string // text of mcp.json
	env    map[string]string
	second string // witness copy of the ledger
}

func (s *setup) file(name, text string) string {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *setup) script(name, text string) {
	if err := os.Chmod(s.file(name, "#!/bin/sh\n"+text), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// write makes a ledger with one entry and exports its key.
func (s *setup) write() {
	dir := filepath.Join(s.dir, "ledger")
	l, err := ledger.Open(dir, ledger.Options{Instance: "test", WitnessCopy: s.second})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := l.Append(s.t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "late"))); err != nil {
		s.t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		s.t.Fatal(err)
	}
	keys, err := ledger.PublicKeys(dir)
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
	s := &setup{t: t, dir: t.TempDir()}
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "candor")); err != nil {
		t.Fatal(err)
	}
	s.env = map[string]string{"HOME": s.dir, "PATH": bin + ":/usr/bin:/bin", "SHOP_TOKEN": "abc"}
	s.Options = Options{
		Ledger: filepath.Join(s.dir, "ledger"), Keys: filepath.Join(s.dir, "signer.pub"), MinFree: 1, GUIPath: bin + ":/usr/bin:/bin", Timeout: time.Minute,
		Executable: self, Getenv: func(name string) string { return s.env[name] },
	}
	if s.second, err = ledgerconfig.WitnessCopy(s.Ledger, s.Getenv); err != nil {
		t.Fatal(err)
	}
	server := hello + `echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; read line`
	s.yaml = fmt.Sprintf("version: 1\nlisten: 127.0.0.1:0\nledger: ledger\nupstreams:\n  demo:\n    command: [sh, -c, %q]\n  shop:\n    url: %s\n    headers: {Authorization: \"Bearer ${SHOP_TOKEN}\"}\n",
		server, shop(t))
	s.client = fmt.Sprintf(`{"mcpServers":{"orders":{"command":"candor","args":["wrap","--","sh","-c",%q]}}}`, server)
	return s
}

// shop returns the URL of a server over streamable HTTP that wants the token abc.
func shop(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "Bearer abc":
			w.WriteHeader(http.StatusUnauthorized)
		case bytes.Contains(body, []byte(`"initialize"`)):
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"shop","version":"2"}}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// run makes all checks and returns what they found.
func (s *setup) run() (findings []Finding) {
	s.t.Helper()
	if s.yaml != "" {
		s.Config = s.file("candor.yaml", s.yaml)
	}
	s.Clients = []ClientFile{{File: clientconfig.ReadFile(s.file("mcp.json", s.client)), Start: true}}
	for name, value := range s.env {
		s.Environ = append(s.Environ, name+"="+value)
	}
	if err := Run(context.Background(), s.Options, func(f Finding) { findings = append(findings, f) }); err != nil {
		s.t.Fatal(err)
	}
	return findings
}

// faults returns the faults of the findings, and checks that each has a text and a next step.
func faults(t *testing.T, findings []Finding) []string {
	t.Helper()
	list := []string{}
	for _, f := range findings {
		bad := f.Result == Warning || f.Result == Failed
		if f.Text == "" || bad != (f.Fault != "") || bad != (f.Next != "") {
			t.Errorf("incomplete: %+v", f)
		}
		if bad {
			list = append(list, f.Fault)
		}
	}
	return list
}

// TestDoctorFindsPlantedFaults plants one fault at a time. The doctor must find it, and nothing else except its consequences.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	for _, c := range plantedFaults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := soundSetup(t)
			s.NoStart = !c.start
			if c.before != nil {
				c.before(s)
			}
			s.write()
			if c.after != nil {
				c.after(s)
			}
			findings := s.run()
			if diff := cmp.Diff(strings.Fields(c.want), faults(t, findings)); diff != "" {
				t.Errorf("faults (- planted, + found):\n%s\n%+v", diff, findings)
			}
			failed := slices.ContainsFunc(findings, func(f Finding) bool { return f.Result == Failed })
			if failed == c.warns {
				t.Errorf("it is only a warning: %v", !failed)
			}
		})
	}
}

var plantedFaults = []struct {
	name   string
	want   string       // faults, the planted one first or with its consequences
	warns  bool         // it is only a warning
	start  bool         // the servers must be started
	before func(*setup) // before the ledger is written
	after  func(*setup)
}{
	{name: "candor is not on the PATH", want: "candor-not-on-path", before: func(s *setup) { s.GUIPath = "/usr/bin:/bin" }},
	{name: "another candor is found first", want: "other-candor", warns: true, before: func(s *setup) {
		s.script("candor", "")
		s.GUIPath = s.dir + ":/usr/bin:/bin"
	}},
	{name: "a shell finds the command, the desktop does not", want: "command-not-on-gui-path", before: func(s *setup) {
		s.script("tool", "")
		s.env["PATH"] = s.dir + ":" + s.env["PATH"]
		s.client = `{"mcpServers":{"a":{"command":"tool"}}}`
	}},
	{name: "the command does not exist", want: "command-missing", before: func(s *setup) { s.client = `{"mcpServers":{"a":{"command":"nonexistent-tool"}}}` }},
	{name: "candor was moved", want: "wrapper-missing", before: func(s *setup) {
		s.client = strings.Replace(s.client, `"command":"candor"`, `"command":"/nonexistent/candor"`, 1)
	}},
	{name: "the ledger is below a file", want: "ledger-not-a-folder", after: func(s *setup) { s.Ledger = s.file("plain", "") + "/ledger" }},
	{name: "the ledger cannot be written", want: readOnlyFaults(), before: func(s *setup) {
		dir := "/proc/sys" // also root cannot create files there
		if os.Getuid() != 0 {
			dir = filepath.Join(s.dir, "locked")
			if err := os.Mkdir(dir, 0o555); err != nil {
				s.t.Fatal(err)
			}
		}
		s.Ledger, s.MinFree = dir+"/ledger", 0
	}},
	{name: "others may read the ledger", want: "ledger-public", after: func(s *setup) { s.chmod("", 0o755) }},
	{name: "others may read the key", want: "key-public", after: func(s *setup) { s.chmod("keys/signer.key", 0o644) }},
	{name: "the disk has little space", want: "disk-low", warns: true, before: func(s *setup) { s.MinFree = math.MaxInt64 }},
	{name: "an entry was changed", want: "ledger-damaged", after: (*setup).flip},
	{name: "no copy of the key", want: "key-only-here", warns: true, before: func(s *setup) { s.Keys = "" }},
	{name: "another key signs", want: "key-differs", after: func(s *setup) { s.file("signer.pub", "another+key\n") }},
	{name: "no witness copy", want: "no-witness-copy", warns: true, before: func(s *setup) { s.second = "" }},
	{name: "the ledger is off", want: "ledger-off", warns: true, before: func(s *setup) { s.Ledger = "none" }},
	{name: "the configuration has a mistake", want: "config-invalid", before: func(s *setup) { s.yaml += "modee: strict\n" }},
	{name: "the configuration is for a newer program", want: "config-invalid", before: func(s *setup) { s.yaml = strings.Replace(s.yaml, "version: 1", "version: 2", 1) }},
	{name: "the configuration does not exist", want: "config-missing", before: func(s *setup) {
		s.yaml, s.Config = "", "nowhere.yaml"
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
	{name: "a variable is not set", want: "variable-unset", start: true, before: func(s *setup) { s.env["SHOP_TOKEN"] = "" }},
	{name: "the port is in use", want: "address-in-use", before: func(s *setup) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = l.Close() })
		go http.Serve(l, http.NotFoundHandler()) //nolint:errcheck // ends with the listener
		s.yaml = strings.Replace(s.yaml, "listen: ", "listen: "+l.Addr().String()+" #", 1)
	}},
	{name: "a server wants other credentials", want: "upstream-refused", start: true, before: func(s *setup) { s.env["SHOP_TOKEN"] = "wrong" }},
}

// readOnlyFaults returns the faults of a folder that cannot be written. Root can write everywhere except in /proc, which has no space.
func readOnlyFaults() string {
	if os.Getuid() == 0 {
		return "ledger-read-only disk-full"
	}
	return "ledger-read-only"
}

func (s *setup) chmod(name string, mode os.FileMode) {
	if err := os.Chmod(filepath.Join(s.Ledger, name), mode); err != nil {
		s.t.Fatal(err)
	}
}

// flip changes one byte of an entry.
func (s *setup) flip() {
	segments, err := filepath.Glob(filepath.Join(s.Ledger, "*", "*.jsonl"))
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
	if findings := s.run(); len(faults(t, findings)) > 0 {
		t.Errorf("%+v", findings)
	}
}

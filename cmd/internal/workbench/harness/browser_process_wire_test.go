//go:build linux

package harness_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// renderers returns the processes of a harness that render pages.
func renderers(t *testing.T, h *harness) (pids []int) {
	t.Helper()
	parents := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		below := pid
		for below != 0 && below != h.cmd.Process.Pid {
			below = parents[below]
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if below != 0 && strings.Contains(string(line), "--type=renderer") {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatal("no renderer was found")
	}
	return pids
}

// TestBrowserUsesSandboxWithoutRoot starts the harness as a user without privileges.
func TestBrowserUsesSandboxWithoutRoot(t *testing.T) {
	t.Parallel()
	needChromium(t)
	const unprivileged = 65534 // a user and group without files
	s := setup{env: []string{"MCP_DOMAINS=playwright", "TMPDIR=/tmp"}}
	if os.Getuid() == 0 {
		state, err := os.MkdirTemp("", "candor")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(state) }()
		if err := errors.Join(os.Chown(state, unprivileged, unprivileged), os.Chmod(filepath.Dir(binary), 0o711)); err != nil { // the user must be able to run it
			t.Fatal(err)
		}
		s.state = filepath.Join(state, "state")
		s.prepare = func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
			cmd.Dir = "/"
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>page</title>") }))
	defer server.Close()
	s.env = append(s.env, "MCP_BROWSER_ALLOW="+strings.TrimPrefix(server.URL, "http://"))
	h := start(t, s)
	defer h.kill()
	launched := h.ask("pw/launch", `{}`)
	if strings.Contains(launched.details(), "user namespaces") {
		t.Skip("this system does not allow unprivileged user namespaces")
	}
	id, _ := launched.result().Path("session").Str()
	if title, _ := h.ask("pw/navigate", fmt.Sprintf(`{"session":%q,"url":%q}`, id, server.URL)).result().Path("page", "title").Str(); title != "page" {
		t.Errorf("the title is %q", title)
	}
	own, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range renderers(t, h) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", pid)); os.Getuid() == 0 && (err != nil || namespace == own) {
			t.Errorf("the renderer has the namespace %s of this process: %v", namespace, err)
		}
		if bytes.Contains(line, []byte("--no-sandbox")) || !bytes.Contains(status, []byte("Seccomp:\t2\n")) {
			t.Errorf("the renderer has no sandbox: %s", status)
		}
	}
	if strings.Contains(h.said.String(), "without its sandbox") {
		t.Error(&h.said)
	}
}

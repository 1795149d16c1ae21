//go:build unix

package main

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// page returns a page of the console that a process has announced.
func (p *process) page(path string) string {
	p.t.Helper()
	p.said.await("console on ", 1)
	address := regexp.MustCompile(`console on (http://\S+)/`).FindStringSubmatch(p.said.String())[1]
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := fetch(req)
	if err != nil {
		p.t.Fatal(err)
	}
	return body
}

func TestConsoleServesALedgerUntilInterrupted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, err := writeLedger(filepath.Join(home, "trail"), false); err != nil {
		t.Fatal(err)
	}
	p := launchIn(t, home, "console")
	if body := p.page("/"); !strings.Contains(body, `id="n-failures">12<`) || strings.Contains(body, "\x1b") {
		t.Errorf("the list is %s", body)
	}
	p.signal(syscall.SIGINT)
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d, want 0; it said %s", code, p.said)
	}
}

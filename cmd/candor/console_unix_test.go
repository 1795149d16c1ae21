//go:build unix

package main

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
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
	p.pageWith("/", `id="n-failures">12<`, "Record whole")
	if body := p.page("/"); strings.Contains(body, "\x1b") {
		t.Errorf("the list is %s", body)
	}
	p.signal(syscall.SIGINT)
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d, want 0; it said %s", code, p.said)
	}
}

func TestWrapServesItsConsole(t *testing.T) {
	t.Parallel()
	p := launch(t, "wrap", "--name", "bad", "--console", "--", "badserver")
	p.say(toolCall("1", "fail"))
	p.hear()
	p.pageWith("/", `id="n-failures">1<`)
	p.pageWith("/servers", "✓ closed")
	_ = p.in.Close()
	p.ends()
}

func TestGatewayServesItsConsole(t *testing.T) {
	t.Parallel()
	it := newWebServer(t)
	p := launch(t, "gateway", "--listen", "127.0.0.1:0", "--console", "--upstream", "it="+it.URL)
	p.pageWith("/servers", "✓ closed")
	g := &gate{process: p, address: regexp.MustCompile(`listening on (http://\S+)`).FindStringSubmatch(p.said.String())[1]}
	if _, err := g.call(t.Context(), 1, "fail"); err != nil {
		t.Fatal(err)
	}
	p.pageWith("/", "rate limit exceeded")
	if body := p.page("/api/v1/servers"); !strings.Contains(body, `"running":true`) || !strings.Contains(body, `"failureShare":1`) {
		t.Errorf("the servers are %s", body)
	}
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d, want 0; it said %s", code, p.said)
	}
}

func TestDemoServesItsConsoleUntilInterrupted(t *testing.T) {
	t.Parallel()
	p := launch(t, "demo", "--console", "--once")
	p.pageWith("/", `id="n-failures">6<`, "Record whole")
	p.signal(syscall.SIGINT)
	_, _ = io.Copy(io.Discard, p.out)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%v; it said %s", err, p.said)
	}
}

// pageWith waits until a page of the console contains some texts.
func (p *process) pageWith(path string, texts ...string) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		body := p.page(path)
		missing := ""
		for _, text := range texts {
			if !strings.Contains(body, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s does not contain %q; the console said %s\n%s", path, missing, p.said, body)
		}
	}
}

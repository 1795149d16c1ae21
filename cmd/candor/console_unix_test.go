//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
)

// page returns a page of the console that a process has announced.
func (p *process) page(path string) string {
	p.t.Helper()
	p.said.await("console on ", 1)
	link := regexp.MustCompile(`console on ((http://\S+)/login\?once=\w+)`).FindStringSubmatch(p.said.String())
	if p.cookies == nil {
		p.cookies, _ = cookiejar.New(nil) // never fails
		p.visit(link[1])
	}
	return p.visit(link[2] + path)
}

// visit returns what the browser of a process shows at an address.
func (p *process) visit(address string) string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	browser := http.Client{Jar: p.cookies}
	res, err := browser.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
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
	wait.Until(p.t, strings.Join(texts, ", ")+" at "+path, func() bool {
		body := p.page(path)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) })
	})
}

package harness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

// browserCodes lists the codes that the browser domains emit over the pipe.
const browserCodes = `
playwright/E_PW_NAV
playwright/E_PW_LAUNCH
playwright/E_PW_TIMEOUT
playwright/E_PW_INVALID_SELECTOR
puppeteer/E_PT_NAV
puppeteer/E_PT_LAUNCH
puppeteer/E_PT_TIMEOUT
puppeteer/E_PT_INVALID_SELECTOR
`

func needChromium(t *testing.T) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if _, err := exec.LookPath(name); err == nil {
			return
		}
	}
	t.Skip("no Chromium on the PATH: the browser domains were not tried")
}

// startBrowsers starts a harness with both browser domains, which may reach the server.
func startBrowsers(t *testing.T, server *httptest.Server, env ...string) *harness {
	t.Helper()
	env = append(env, "MCP_DOMAINS=playwright,puppeteer", "MCP_BROWSER_MAX_SESSIONS=1")
	if server != nil {
		env = append(env, "MCP_BROWSER_ALLOW="+strings.TrimPrefix(server.URL, "http://"))
	}
	return start(t, setup{env: env})
}

// launch returns the id of a new session.
func launch(t *testing.T, h *harness, prefix string) string {
	t.Helper()
	id, _ := h.ask(prefix+"/launch", `{}`).result().Path("session").Str()
	if id == "" {
		t.Fatal("launch returned no session")
	}
	return id
}

// TestEveryBrowserCodeIsEmitted uses one harness for all codes, because a browser takes seconds to start.
func TestEveryBrowserCodeIsEmitted(t *testing.T) {
	t.Parallel()
	needChromium(t)
	begun := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			begun <- struct{}{}
			<-r.Context().Done()
		case "/slow": // a busy browser may never ask for it
			<-r.Context().Done()
		}
		fmt.Fprint(w, "<title>page</title>text")
	}))
	defer server.Close()
	h := startBrowsers(t, server)
	defer h.kill() // before the server is closed
	broken := startBrowsers(t, nil, "MCP_BROWSER_PATH=/bin/false")
	emit, sessions := map[string]func(*testing.T) string{}, map[string]string{}
	for i, d := range []struct{ prefix, code string }{{"pw", "playwright/E_PW_"}, {"pt", "puppeteer/E_PT_"}} {
		number := int64(2100 + 100*i)
		id := launch(t, h, d.prefix)
		sessions[d.prefix] = id
		call := func(method, more string) reply {
			return h.ask(d.prefix+"/"+method, fmt.Sprintf(`{"session":%q%s}`, id, more))
		}
		emit[d.code+"NAV"] = func(t *testing.T) string {
			r := call("navigate", `,"url":"http://nothing.invalid/"`).fails(number, d.code+"NAV")
			message, _ := r.m.Error().Path("message").Str()
			if retryable, _ := r.m.Error().Path("data", "retryable").Bool(); r.details() != `"net::ERR_NAME_NOT_RESOLVED"` || message != "Navigation failed" || !retryable {
				t.Errorf("not as the taxonomy shows it: %s", r.m.Bytes())
			}
			return r.code()
		}
		emit[d.code+"LAUNCH"] = func(*testing.T) string {
			return broken.ask(d.prefix+"/launch", `{}`).fails(number+1, d.code+"LAUNCH").code()
		}
		emit[d.code+"TIMEOUT"] = func(*testing.T) string {
			return call("navigate", fmt.Sprintf(`,"url":%q,"timeoutMs":300`, server.URL+"/slow")).fails(number+2, d.code+"TIMEOUT").code()
		}
		emit[d.code+"INVALID_SELECTOR"] = func(*testing.T) string {
			return call("select", `,"selector":"p["`).fails(number+3, d.code+"INVALID_SELECTOR").code()
		}
	}
	emits.Check(t, browserCodes, emit)
	t.Run("common range", func(t *testing.T) { emitCommonCodes(t, h, sessions["pw"], server, begun) })
}

// emitCommonCodes emits the codes that all domains share, each by a cause specific to the browser, and closes the
// session.
func emitCommonCodes(t *testing.T, h *harness, id string, server *httptest.Server, begun <-chan struct{}) {
	t.Helper()
	navigate := func(url string) reply { return h.ask("pw/navigate", fmt.Sprintf(`{"session":%q,"url":%q}`, id, url)) }
	if title, _ := navigate(server.URL).result().Path("page", "title").Str(); title != "page" {
		t.Errorf("the title is %q", title)
	}
	for _, url := range []string{"not a URL", "file:///etc/passwd", "javascript:1", "chrome://version"} {
		navigate(url).fails(1000, "common/E_INVALID_PARAMS")
	}
	full := h.ask("pw/launch", `{}`).fails(1002, "common/E_LIMIT_EXCEEDED")
	if after, _ := full.m.Error().Path("data", "retryAfterMs").Int64(); after <= 0 {
		t.Errorf("no retry advice: %s", full.m.Bytes())
	}
	navigate("http://example.com/"+strings.Repeat("x", 3000)).fails(1005, "common/E_INPUT_TOO_LARGE")
	if denied := navigate("http://169.254.169.254/").fails(2100, "playwright/E_PW_NAV"); denied.details() != `"net::ERR_BLOCKED_BY_ADMINISTRATOR"` {
		t.Errorf("a metadata service: %s", denied.m.Bytes())
	}
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"slow","method":"pw/navigate","params":{"session":%q,"url":%q}}`, id, server.URL+"/never"))
	<-begun
	busy := h.ask("pw/content", fmt.Sprintf(`{"session":%q,"timeoutMs":200}`, id)).fails(1001, "common/E_TIMEOUT")
	if retryable, _ := busy.m.Error().Path("data", "retryable").Bool(); busy.details() != `"the session is busy with another call"` || !retryable {
		t.Errorf("a busy session: %s", busy.m.Bytes())
	}
	h.ask("pw/close", fmt.Sprintf(`{"session":%q}`, id)).result() // even while a call uses it
	if closed := navigate(server.URL).fails(1004, "common/E_SESSION_NOT_FOUND"); closed.details() != `"the session is over: it was closed"` {
		t.Errorf("a closed session: %s", closed.m.Bytes())
	}
	if said := h.said.String(); (os.Getuid() == 0) != strings.Contains(said, "without its sandbox") {
		t.Errorf("user %d: %s", os.Getuid(), said)
	}

	missing := startBrowsers(t, nil, "MCP_BROWSER_PATH="+t.TempDir()+"/none")
	none := missing.ask("pt/launch", `{}`).fails(1003, "common/E_NOT_INSTALLED")
	if !strings.Contains(none.details(), "install") || strings.Contains(none.details(), os.TempDir()) {
		t.Errorf("the details are %s", none.details())
	}
}

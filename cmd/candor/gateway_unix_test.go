//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/wire"
)

// webServer is an MCP server over HTTP. Its tools are echo, fail, masked, which reports a failure as a success,
// and held, which waits until the test releases it.
type webServer struct {
	*httptest.Server
	entered, letGo chan struct{}
}

func newWebServer(t *testing.T) *webServer {
	t.Helper()
	s := &webServer{entered: make(chan struct{}, 100), letGo: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	m := wire.Parse(body, wire.Limits{})
	if err != nil || m.Kind() != wire.KindRequest {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{"content":[{"type":"text","text":"fine"}]}`
	switch tool, _ := m.Params().Path("name").Str(); tool {
	case "held":
		s.entered <- struct{}{}
		select {
		case <-s.letGo:
		case <-r.Context().Done():
		}
	case "fail":
		result = `{"content":[{"type":"text","text":"Error: rate limit exceeded"}],"isError":true}`
	case "masked":
		result = `{"content":[{"type":"text","text":"Error: connection refused"}]}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), result)
}

// gate is a gateway that runs as a separate process.
type gate struct {
	*process
	config         string // path of its configuration file
	address, admin string
}

// configText returns a configuration with one upstream and additional settings for it.
func configText(target, settings string) string {
	return "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\ndrain: 20s\nupstreams:\n  it:\n    url: " + target + "/mcp\n" + settings
}

func newGate(t *testing.T, text string) *gate {
	t.Helper()
	file := filepath.Join(t.TempDir(), "candor.yaml")
	g := &gate{config: file}
	g.write(t, text)
	return gateAt(t, file)
}

// gateAt starts a gateway with that configuration file and further flags.
func gateAt(t *testing.T, file string, flags ...string) *gate {
	t.Helper()
	g := &gate{config: file}
	g.process = launch(t, append([]string{"gateway", "--config", file}, flags...)...)
	g.said.await("health and metrics on ", 1)
	g.address = regexp.MustCompile(`listening on (http://\S+)`).FindStringSubmatch(g.said.String())[1]
	g.admin = regexp.MustCompile(`metrics on (http://\S+)/healthz`).FindStringSubmatch(g.said.String())[1]
	return g
}

func (g *gate) write(t *testing.T, text string) {
	t.Helper()
	next := g.config + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, g.config); err != nil {
		t.Fatal(err)
	}
}

// call calls a tool and returns the body of the answer.
func (g *gate) call(ctx context.Context, id int, tool string) (string, error) {
	return g.send(ctx, "/it/", toolCall(fmt.Sprint(id), tool))
}

// send posts a message with further headers and returns the body of the answer.
func (g *gate) send(ctx context.Context, path, body string, header ...string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.address+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return fetch(req)
}

func (g *gate) look(t *testing.T, page string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.admin+page, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := fetch(req)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func fetch(req *http.Request) (string, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

func (g *gate) mustCall(t *testing.T, id int, tool string) string {
	t.Helper()
	answer, err := g.call(t.Context(), id, tool)
	if err != nil {
		t.Fatalf("%v; it said %s", err, g.said)
	}
	return answer
}

const fineAnswer = `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"fine"}]}}`

func TestGatewayFrontsAnHTTPServer(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, ""))
	if got := g.mustCall(t, 1, "echo"); got != fmt.Sprintf(fineAnswer, 1) {
		t.Errorf("answered %s", got)
	}
	if got := g.mustCall(t, 2, "fail"); !strings.Contains(got, `"code":"RATE_LIMITED"`) {
		t.Errorf("answered %s", got)
	}
	if got := g.look(t, "/healthz"); got != "ok\n" {
		t.Errorf("health is %q", got)
	}
	if got := g.look(t, "/metrics"); !strings.Contains(got, `symbol="RATE_LIMITED"`) {
		t.Errorf("metrics are %s", got)
	}
	for _, line := range []string{`candor_gateway_calls_total{server="it"} 2`, `candor_gateway_open_calls{server="it"} 0`, `candor_gateway_late_answers_total{server="it"} 0`, `mcp_errors_by_server_total{outcome="tool",server="it"} 1`} {
		if got := g.look(t, "/metrics"); !strings.Contains(got, line+"\n") {
			t.Errorf("no %s in %s", line, got)
		}
	}
	g.showsPathsAndGuards(t)
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	if codes := g.recorded(); len(codes) != 2 || codes["RATE_LIMITED"] != 1 || codes["HOST_REFUSED"] != 1 {
		t.Errorf("recorded %v", codes)
	}
	if !strings.HasSuffix(g.said.String(), "candor gateway: 3 calls, 2 failures (RATE_LIMITED 1, HOST_REFUSED 1), recorded in "+g.trail+"\n") {
		t.Errorf("it said %s", g.said)
	}
}

// showsPathsAndGuards sends requests to other paths, and with another Host header.
func (g *gate) showsPathsAndGuards(t *testing.T) {
	t.Helper()
	for _, ask := range []struct{ method, url, host, want string }{
		{http.MethodPost, g.address + "/mcp", "", `"text":"fine"`},
		{http.MethodPost, g.address + "/nobody/", "", `"There is no upstream at this path."`},
		{http.MethodPost, g.address + "/it/", "evil.example", `"HOST_REFUSED"`},
		{http.MethodGet, g.admin + "/metrics", "evil.example", "this page is served only to this machine"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), ask.method, ask.url, strings.NewReader(toolCall("3", "echo")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Host = ask.host
		if got, err := fetch(req); err != nil || !strings.Contains(got, ask.want) {
			t.Errorf("%s as %q: %s, %v", ask.url, ask.host, got, err)
		}
	}
}

// TestSIGTERMLetsOpenCallsFinish also checks that new calls are refused meanwhile.
func TestSIGTERMLetsOpenCallsFinish(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, ""))
	answers := make(chan string)
	go func() {
		answer, err := g.call(t.Context(), 1, "held")
		answers <- fmt.Sprint(answer, err)
	}()
	<-web.entered
	g.signal(syscall.SIGTERM)
	for g.look(t, "/healthz") != "draining\n" { // only the deadline of the test applies
	}
	if got := g.mustCall(t, 2, "echo"); !strings.Contains(got, `"code":"GATEWAY_DRAINING"`) {
		t.Errorf("answered %s", got)
	}
	close(web.letGo)
	if got := <-answers; got != fmt.Sprintf(fineAnswer, 1)+"<nil>" {
		t.Errorf("answered %s", got)
	}
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	if codes := g.recorded(); len(codes) != 1 || codes["GATEWAY_DRAINING"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}

// TestOpenCallsFailAfterDrainTimeout checks the answers to calls that are open when the drain timeout ends.
func TestOpenCallsFailAfterDrainTimeout(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, strings.Replace(configText(web.URL, ""), "drain: 20s", "drain: 50ms", 1))
	answers := make(chan string)
	go func() {
		answer, err := g.call(t.Context(), 1, "held")
		answers <- fmt.Sprint(answer, err)
	}()
	<-web.entered
	g.signal(syscall.SIGTERM)
	if got := <-answers; !strings.Contains(got, `"code":"GATEWAY_DRAINING"`) || !strings.HasSuffix(got, "<nil>") {
		t.Errorf("answered %s", got)
	}
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	if codes := g.recorded(); codes["GATEWAY_DRAINING"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}

// TestReloadDropsNoCall reloads the configuration while eight clients call continuously, and one call stays open throughout.
func TestReloadDropsNoCall(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, "    mode: observe\n"))
	held := make(chan string)
	go func() {
		answer, err := g.call(t.Context(), 1, "held")
		held <- fmt.Sprint(answer, err)
	}()
	<-web.entered
	enough := make(chan struct{})
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := 0; ; i++ {
				id := 1000*caller + i + 2
				if answer, err := g.call(t.Context(), id, "echo"); err != nil || answer != fmt.Sprintf(fineAnswer, id) {
					t.Errorf("call %d was answered %q, %v", id, answer, err)
				}
				select {
				case <-enough:
					return
				default:
				}
			}
		})
	}
	const reloads = 12
	for i := range reloads {
		g.write(t, configText(web.URL, fmt.Sprintf("    mode: annotate\n    timeout: %ds\n", 30+i)))
		g.signal(syscall.SIGHUP)
		g.said.await("was reloaded: 1 upstream", i+1)
	}
	close(enough)
	callers.Wait()
	close(web.letGo)
	if got := <-held; got != fmt.Sprintf(fineAnswer, 1)+"<nil>" {
		t.Errorf("the call that was open throughout was answered %s", got)
	}
	if got := g.mustCall(t, 1, "fail"); !strings.Contains(got, `"code":"RATE_LIMITED"`) {
		t.Errorf("the new file is not in force: %s", got)
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
}

package kaiza_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

// web is a server over HTTP.
type web struct {
	t   testing.TB
	p   *env
	url string
	cmd *exec.Cmd
}

// listen starts the server over HTTP.
func (p *env) listen(flags ...string) *web {
	p.t.Helper()
	w := &web{t: p.t, p: p}
	w.cmd = exec.Command(binary, append([]string{"workbench", "kaiza", "--root", p.root, "--state", p.state, "--listen", "127.0.0.1:0"}, flags...)...)
	w.cmd.Env = append(servertest.Env(), p.env...)
	w.url = servertest.Listen(p.t, w.cmd)
	return w
}

// kill sends SIGKILL and waits for the exit.
func (w *web) kill() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Signal(syscall.SIGKILL)
		_ = w.cmd.Wait()
	}
}

// stateful connects with a protocol session, which is also the session of the workspace.
func (w *web) stateful() *client {
	w.t.Helper()
	c := &client{t: w.t, p: w.p, stop: func() {}}
	var headers []string
	c.ask = func(method, params string) wire.Message {
		m, session := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), headers...)
		if method == "initialize" {
			headers = []string{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", session}
		}
		return m
	}
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...)
	return c
}

// stateless makes calls without a protocol session; each call names the session of the workspace.
func (w *web) stateless() *client {
	c := &client{t: w.t, p: w.p, stop: func() {}}
	c.ask = func(method, params string) wire.Message {
		meta := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		params = strings.TrimSuffix(params, "}") + `,"_meta":` + meta + `}`
		v, err := wire.ParseValue([]byte(params), wire.Limits{})
		if err != nil {
			w.t.Fatal(err)
		}
		name, _ := v.Path("name").Str()
		m, _ := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		return m
	}
	return c
}

// post sends a message and returns the answer and the session id of the response.
func (w *web) post(body string, headers ...string) (m wire.Message, session string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	headers = append(headers, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // opened for reading
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			raw = []byte(strings.TrimRight(data, "\r\n"))
		}
	}
	return wire.Parse(raw, wire.Limits{}), answer.Header.Get("Mcp-Session-Id")
}

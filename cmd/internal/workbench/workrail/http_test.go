package workrail_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

// listen starts a server over HTTP and returns its address.
func (p *place) listen(flags ...string) string {
	p.t.Helper()
	cmd := exec.Command(binary, append([]string{"workbench", "workrail", "--state", p.state, "--ledger", "none", "--listen", "127.0.0.1:0"}, append(flags, p.flags...)...)...)
	cmd.Env = append(servertest.Env(), p.env...)
	return servertest.Listen(p.t, cmd)
}

// post calls a tool in the era without protocol sessions.
func post(t testing.TB, url, tool string, in args) (answer, error) {
	t.Helper()
	meta := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	params := strings.TrimSuffix(servertest.CallParams(t, tool, in), "}") + `,"_meta":` + meta + `}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params)))
	if err != nil {
		return answer{}, err
	}
	for name, value := range map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	for line := range strings.Lines(string(raw)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			raw = []byte(strings.TrimRight(data, "\r\n"))
		}
	}
	m := wire.Parse(raw, wire.Limits{})
	return answer{t, &m}, nil
}

// TestW10ClientsOverHTTPShareASession checks that of concurrent calls with one token one is recorded, and none fails
// with a lock.
func TestW10ClientsOverHTTPShareASession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	url := p.listen()
	a, err := post(t, url, "start_workflow", args{"workflowId": "plain"})
	if err != nil {
		t.Fatal(err)
	}
	token, id := a.fine().token(), a.data("sessionId")
	for step := range 10 {
		answers := make([]answer, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				b, err := post(t, url, "continue_workflow", args{"continueToken": token, "notes": fmt.Sprint(i)})
				if err != nil {
					t.Error(err)
				}
				answers[i] = b
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		recorded := 0
		for _, b := range answers {
			if replay := b.fine().m.Result().Path("structuredContent", "replay"); !replay.Present() {
				recorded++
			}
			if b.token() != answers[0].token() {
				t.Errorf("step %d: two tokens", step)
			}
		}
		if recorded != 1 {
			t.Fatalf("step %d was recorded %d times", step, recorded)
		}
		token = answers[0].token()
	}
	export, err := post(t, url, "export_session", args{"sessionId": id})
	if err != nil {
		t.Fatal(err)
	}
	if n := export.fine().m.Result().Path("structuredContent", "sound").Len(); n != 11 {
		t.Errorf("%d events are recorded, want 11", n)
	}
	bad, err := post(t, url, "continue_workflow", args{"continueToken": "ct_x"})
	if err != nil {
		t.Fatal(err)
	}
	bad.is("TOKEN_INVALID_FORMAT").wellFormed()
}

package httpgate_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/dialect"
)

// resending is an upstream that answers a POST on a stream with event ids, and resends the same event on a GET.
func resending(answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: e1\ndata: "+answer+"\n\n")
	})
}

// TestResentFailureKeepsTheRefOfItsEntry checks that a client that resumes a stream gets the missed failure as it was recorded.
func TestResentFailureKeepsTheRefOfItsEntry(t *testing.T) {
	rules := &gateway.Rules{Masks: []gateway.Mask{{Tool: "read", Text: "^nothing came$"}}}
	if err := rules.Compile(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
		for name, answer := range map[string]string{
			"tool":     `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"no such page"}]}}`,
			"protocol": `{"jsonrpc":"2.0","id":7,"error":{"code":-32050,"message":"no such page"}}`,
			"masked":   `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"nothing came"}]}}`,
		} {
			g := httpgatetest.NewGate(t, resending(answer), gateway.Options{Mode: mode, Rules: rules}, httpgate.Options{})
			first := httpgatetest.OnlyMessage(t, g.Post(t, httpgatetest.ToolCall, "Mcp-Session-Id", "s1"))
			again := httpgatetest.OnlyMessage(t, httpgatetest.Send(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s1", "Last-Event-Id", "e0", "Accept", "text/event-stream"))
			entries := g.All()
			if len(entries) != 1 || first != again || !strings.Contains(again, entries[0].Error.Ref()) {
				t.Errorf("%s, %s: %d entries\nfirst %s\nagain %s", mode, name, len(entries), first, again)
			}
		}
	}
}

// TestResentFailureThatIsNotKnownIsRecorded covers a restart and another session, for which the gateway has no entry yet.
func TestResentFailureThatIsNotKnownIsRecorded(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"no such page"}]}}`
	g := httpgatetest.NewGate(t, resending(answer), gateway.Options{}, httpgate.Options{})
	got := httpgatetest.OnlyMessage(t, httpgatetest.Send(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s1", "Last-Event-Id", "e0", "Accept", "text/event-stream"))
	e, err := dialect.ReadCandor(httpgatetest.EnvelopeIn(t, got))
	if err != nil {
		t.Fatal(err)
	}
	entries, counted, _ := g.Totals()
	if entries != 1 || counted != 1 || g.All()[0].Error.Ref() != e.Ref() {
		t.Errorf("%d entries, %d counted, client gets %s", entries, counted, got)
	}
	other := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"fine"}]}}`
	clean := httpgatetest.NewGate(t, resending(other), gateway.Options{}, httpgate.Options{})
	if got := httpgatetest.OnlyMessage(t, httpgatetest.Send(t, http.MethodGet, clean.URL, "", "Mcp-Session-Id", "s1", "Last-Event-Id", "e0", "Accept", "text/event-stream")); got != other {
		t.Errorf("a success is changed to %s", got)
	}
}

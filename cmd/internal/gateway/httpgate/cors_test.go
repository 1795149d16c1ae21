package httpgate_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// corsUpstream answers with headers that allow every page, and fails on OPTIONS requests.
func corsUpstream(t *testing.T, kind, body string) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			t.Error("a preflight reached the upstream")
		}
		_, _ = io.Copy(io.Discard, r.Body)
		httpgatetest.Says(200, kind, body, "Access-Control-Allow-Origin", "*", "Access-Control-Allow-Credentials", "true", "Vary", "Accept", "Mcp-Session-Id", "s1").ServeHTTP(w, r)
	})
}

func TestPreflightOfAConfiguredOriginIsAnswered(t *testing.T) {
	for _, row := range []struct {
		origins        []string
		origin, host   string
		method, header string
		status         int
		allowed        string
	}{
		{[]string{"https://app.example"}, "https://app.example", "", "POST", "authorization,content-type,mcp-session-id,mcp-param-x", 204, "https://app.example"},
		{[]string{"https://app.example/"}, "https://app.example", "", "DELETE", "", 204, "https://app.example"},
		{[]string{"*"}, "https://any.example", "", "POST", "authorization", 204, "*"},
		{[]string{"*", "https://app.example"}, "https://app.example", "", "POST", "x-a, x-b", 204, "https://app.example"},
		{[]string{"https://app.example"}, "https://evil.example", "", "POST", "authorization", 403, ""},
		{[]string{"https://app.example"}, "https://app.example.evil.example", "", "POST", "", 403, ""},
		{[]string{"https://app.example"}, "http://app.example", "", "POST", "", 403, ""},
		{[]string{"https://app.example"}, "null", "", "POST", "", 403, ""},
		{[]string{"https://app.example"}, "https://app.example", "evil.example", "POST", "", 403, ""},
		{[]string{"https://app.example"}, "http://localhost:5173", "", "POST", "", 401, ""},
		{[]string{"https://app.example"}, "https://app.example", "", "", "", 401, ""},
		{nil, "https://app.example", "", "POST", "", 403, ""},
		{nil, "http://localhost:5173", "", "POST", "", 401, ""},
	} {
		g := httpgatetest.NewGate(t, corsUpstream(t, "application/json", good), gateway.Options{}, httpgate.Options{Origins: row.origins, Token: "right"})
		header := []string{"Origin", row.origin}
		for name, value := range map[string]string{"Host": row.host, "Access-Control-Request-Method": row.method, "Access-Control-Request-Headers": row.header} {
			if value != "" {
				header = append(header, name, value)
			}
		}
		got := httpgatetest.Send(t, http.MethodOptions, g.URL, "", header...)
		h := got.Header
		if got.Status != row.status || h.Get("Access-Control-Allow-Origin") != row.allowed && row.status == 204 || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%+v: %d %v %s", row, got.Status, h, got.Body)
		}
		if row.status != 204 {
			if h.Get("Access-Control-Allow-Methods") != "" {
				t.Errorf("%+v: %v", row, h)
			}
			continue
		}
		allowed := strings.ToLower(h.Get("Access-Control-Allow-Headers"))
		if !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || row.header != "" && allowed != row.header || !strings.Contains(strings.Join(h["Vary"], ","), "Origin") {
			t.Errorf("%+v: %v", row, h)
		}
	}
}

// An invalid list of headers is not echoed.
func TestPreflightEchoesOnlyHeaderNames(t *testing.T) {
	g := httpgatetest.NewGate(t, corsUpstream(t, "application/json", good), gateway.Options{}, httpgate.Options{Origins: []string{"https://app.example"}})
	for _, asked := range []string{"x-a; x", "<script>", strings.Repeat("x-a,", 2000)} {
		got := httpgatetest.Send(t, http.MethodOptions, g.URL, "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", asked)
		if allowed := got.Header.Get("Access-Control-Allow-Headers"); got.Status != 204 || !strings.Contains(allowed, "Authorization") || len(allowed) > 500 {
			t.Errorf("%.20q: %d %v", asked, got.Status, got.Header)
		}
	}
}

// A page on a configured origin can read answers and refusals. A page that only the upstream allows cannot.
func TestAnswersToAConfiguredOriginCanBeRead(t *testing.T) {
	for kind, body := range map[string]string{"application/json": good, "text/event-stream": "data: " + good + "\n\n"} {
		g := httpgatetest.NewGate(t, corsUpstream(t, kind, body), gateway.Options{}, httpgate.Options{Origins: []string{"https://app.example"}, Token: "right"})
		for _, row := range []struct {
			method, origin, token, allowed string
			status                         int
		}{
			{"POST", "https://app.example", "Bearer right", "https://app.example", 200},
			{"GET", "https://app.example", "Bearer right", "https://app.example", 200},
			{"DELETE", "https://app.example", "Bearer right", "https://app.example", 200},
			{"POST", "https://app.example", "Bearer wrong", "https://app.example", 401},
			{"PUT", "https://app.example", "Bearer right", "https://app.example", 405},
			{"POST", "https://evil.example", "Bearer right", "", 403},
			{"POST", "http://localhost:1", "Bearer right", "", 200},
		} {
			got := httpgatetest.Send(t, row.method, g.URL, httpgatetest.ToolCall, "Origin", row.origin, "Authorization", row.token)
			h := got.Header
			if got.Status != row.status || strings.Join(h["Access-Control-Allow-Origin"], ",") != row.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %+v: %d %v", kind, row, got.Status, h)
			}
			if row.allowed != "" && !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") || !strings.Contains(strings.Join(h["Vary"], ","), "Origin") {
				t.Errorf("%s %+v: %v", kind, row, h)
			}
		}
	}
	g := httpgatetest.NewGate(t, corsUpstream(t, "application/json", good), gateway.Options{}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("Vary") != "Accept" {
		t.Errorf("without origins the headers pass: %v", got.Header)
	}
}

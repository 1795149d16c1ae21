package zoo_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// reply is an answer over HTTP.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

func post(t *testing.T, address, body, session string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(data), err}
}

func httpServer(t *testing.T, o zoo.Options) string {
	t.Helper()
	s := httptest.NewServer(zoo.Handler(o))
	t.Cleanup(s.Close)
	return s.URL
}

func toolCall(era, tool string) string {
	return request(era, "5", "tools/call", `{"name":"`+tool+`","arguments":{"name":"zz","mode":"full"}}`)
}

func TestStatusGoesWithTheNumberUnlessADefectSaysOtherwise(t *testing.T) {
	unknown := func(era string) string { return request(era, "5", "zz/none", `{}`) }
	for _, row := range []struct {
		defect, body string
		status       int
	}{
		{"", unknown(era2025), 200}, {"", unknown(era2026), 404}, {"", `{"jsonrpc":`, 400}, {"", toolCall(era2026, "honest"), 200},
		{"", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202},
		{"http-ok", unknown(era2026), 200}, {"http-ok", `{"jsonrpc":`, 200},
		{"http-500", unknown(era2025), 500}, {"http-500", unknown(era2026), 500}, {"http-500", toolCall(era2026, "honest"), 200},
	} {
		o := zoo.Options{Personality: zoo.PersonalityHonest}
		if row.defect != "" {
			o.Defects = []string{row.defect}
		}
		if got := post(t, httpServer(t, o), row.body, ""); got.status != row.status {
			t.Errorf("%q: %s has status %d, want %d: %s %v", row.defect, row.body, got.status, row.status, got.body, got.err)
		}
	}
}

func TestDelayIsOnlyInTheHeader(t *testing.T) {
	got := post(t, httpServer(t, zoo.Options{Defects: []string{"retry-header"}}), toolCall(era2025, "retry-header"), "")
	if got.header.Get("Retry-After") != "30" || strings.Contains(got.body, "30") || !strings.Contains(got.body, "RATE_LIMITED") {
		t.Errorf("got %v %s", got.header, got.body)
	}
}

func TestCrashBreaksTheConnectionAndDropsSessions(t *testing.T) {
	address := httpServer(t, zoo.Options{Defects: []string{"crash"}})
	open := post(t, address, request(era2025, "1", "initialize", `{"protocolVersion":"2025-11-25"}`), "")
	session := open.header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session: %+v", open)
	}
	if got := post(t, address, request(era2025, "2", "ping", `{}`), session); got.status != 200 {
		t.Errorf("ping: %+v", got)
	}
	if got := post(t, address, request(era2025, "3", "tools/call", `{"name":"crash","arguments":{"name":5,"mode":"full"}}`), session); got.err == nil {
		t.Errorf("the connection stands: %+v", got)
	}
	if got := post(t, address, request(era2025, "4", "ping", `{}`), session); got.status != 404 {
		t.Errorf("the session is known: %+v", got)
	}
}

func TestHeadersThatDisagreeAreRefused(t *testing.T) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, httpServer(t, zoo.Options{}), strings.NewReader(toolCall(era2026, "honest")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Method", "tools/list")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 400 || !bytes.Contains(body, []byte("-32020")) {
		t.Errorf("got %d %s", res.StatusCode, body)
	}
}

// events returns the messages of an event stream.
func events(body string) (out []string) {
	r := framing.NewEventReader(strings.NewReader(body), wire.Limits{})
	for {
		e, err := r.Next()
		if err != nil {
			return out
		}
		if e.HasData {
			out = append(out, string(e.Data))
		}
	}
}

func TestTransportsGiveTheSameAnswers(t *testing.T) {
	for _, d := range zoo.Defects() {
		if d.Tool == "" || strings.HasPrefix(d.Tool, "up-") || d.ID == "hang" || d.ID == "late" || d.ID == "keeps-on" {
			continue
		}
		o := zoo.Options{Defects: []string{d.ID}}
		lines := open(t, era2025, o).ask(toolCall(era2025, d.Tool), "5")
		want := append(lines.other, lines.response)
		if d.ID == "wrong-id" {
			want = lines.other
		}
		got := post(t, httpServer(t, o), toolCall(era2025, d.Tool), "")
		sent := []string{got.body}
		if strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") {
			sent = events(got.body)
		}
		if strings.Join(sent, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %.300q over HTTP and %.300q over lines", d.ID, sent, want)
		}
	}
}

func TestLegacySSECarriesAnswers(t *testing.T) {
	address := httpServer(t, zoo.Options{Defects: []string{"noise"}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	stream := framing.NewEventReader(res.Body, wire.Limits{})
	endpoint, err := stream.Next()
	if err != nil || string(endpoint.Type) != "endpoint" {
		t.Fatalf("the first event is %q %q, %v", endpoint.Type, endpoint.Data, err)
	}
	to := address + string(endpoint.Data)
	if got := post(t, to, toolCall(era2025, "noise"), ""); got.status != http.StatusAccepted {
		t.Fatalf("posting: %+v", got)
	}
	for _, want := range []string{"DEBUG", `{"jsonrpc":"2.0","id":5,`} {
		if e, err := stream.Next(); err != nil || !bytes.HasPrefix(e.Data, []byte(want)) {
			t.Errorf("got %q, %v, want %s", e.Data, err, want)
		}
	}
	if got := post(t, address+"/sse/message?session=nobody", toolCall(era2025, "noise"), ""); got.status != http.StatusNotFound {
		t.Errorf("an unknown session: %+v", got)
	}
}

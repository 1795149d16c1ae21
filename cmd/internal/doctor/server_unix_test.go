//go:build unix

package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

const hello = `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x"}}}'; read line; read line; `

func checked(t *testing.T, timeout time.Duration, to target) Finding {
	t.Helper()
	e := &examination{Options: Options{Timeout: timeout}}
	return e.try(t.Context(), to)
}

// finds fails the test unless a finding has a fault, "" for a success, and a part of its text.
func finds(t *testing.T, f Finding, fault, part string) {
	t.Helper()
	if f.Fault != fault || !strings.Contains(f.Text, part) {
		t.Errorf("%+v, want %q with %q", f, fault, part)
	}
	if strings.Contains(f.Text, "pw99") {
		t.Errorf("a part of a secret is shown: %s", f.Text)
	}
}

func TestServerThatIsStartedIsJudged(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][2]string{
		hello + `echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{},{}]}}'; read line`:                                                       {"", "x answers, with 2 tools, protocol 2025-06-18"},
		hello + `echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no licence"}}'; read line`:                                   {"server-tools", "-32603 no licence"},
		hello + `echo '{"jsonrpc":"2.0","id":2,"result":[]}'; read line`:                                                                      {"server-tools", "another form"},
		`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no key"}}'; read line`:                                    {"server-initialize", "-32602 no key"},
		`echo 'fatal: no database, password=hunter2hunter2' >&2; exit 3`:                                                                      {"server-exited", "fatal: no database, password=[redacted"},
		`echo 'the password:' >&2; echo hunter2pw99xyz >&2; exit 3`:                                                                           {"server-exited", "it wrote: [redacted"},
		`printf 'password=hunter2pw99xyz %08180d' 0 >&2; exit 3`:                                                                              {"server-exited", "it wrote: [redacted"},
		`printf %0190d 0; echo ' password=hunter2pw99xyz'; ` + hello + `echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; read line`:     {"server-noise", "00"},
		`echo Listening on stdio; ` + hello + `echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; read line`:                              {"server-noise", "Listening on stdio"},
		hello + `echo '{"jsonrpc":"2.0","method":"notifications/message"}'; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; read line`: {"", "0 tools"},
	} {
		f := checked(t, time.Minute, target{line: []string{"/bin/sh", "-c", script}, env: os.Environ()})
		finds(t, f, want[0], want[1])
	}
	finds(t, checked(t, 300*time.Millisecond, target{line: []string{"/bin/sh", "-c", "echo loading >&2; sleep 100"}, env: os.Environ()}), "server-silent", "did not answer initialize within 300ms; it wrote: loading")
	finds(t, checked(t, time.Minute, target{line: []string{"/nonexistent"}}), "", "not started: its command or its folder was not found")
}

// answering serves requests in order, each with an answer; a number is a status.
func answering(t *testing.T, answers ...string) target {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := "202"
		if r.Method == http.MethodPost && len(answers) > 0 {
			answer, answers = answers[0], answers[1:]
		}
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
		case strings.HasPrefix(answer, "data:"):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, answer+"\n\n")
		case len(answer) > 3:
			w.Header().Set("Mcp-Session-Id", "s")
			_, _ = io.WriteString(w, answer)
		case answer == "307":
			http.Redirect(w, r, "http://other.example/", http.StatusTemporaryRedirect)
		default:
			w.WriteHeader(map[string]int{"202": 202, "401": 401, "404": 404, "500": 500}[answer])
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return target{url: at}
}

func TestServerAtAnAddressIsJudged(t *testing.T) {
	t.Parallel()
	const opened = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"2"}}}`
	for _, row := range []struct {
		fault, part string
		answers     []string
	}{
		{"", "shop 2 answers, with 1 tool", []string{opened, "202", `data: {"jsonrpc":"2.0","id":2,"result":{"tools":[{}]}}`}},
		{"server-tools", "the body is not the answer", []string{opened, "202", `{"tools":[]}`}},
		{"upstream-refused", "HTTP status 401", []string{opened, "202", "401"}},
		{"upstream-status", "redirect: HTTP status 307", []string{"307"}},
		{"upstream-status", "HTTP status 404", []string{opened, "202", "404"}},
		{"upstream-status", "HTTP status 500", []string{"500"}},
		{"", "answers over the older SSE transport", []string{"404"}},
	} {
		finds(t, checked(t, time.Minute, answering(t, row.answers...)), row.fault, row.part)
	}
	nothing := answering(t)
	nothing.url.Host = "127.0.0.1:9"
	finds(t, checked(t, time.Minute, nothing), "upstream-unreachable", "cannot be reached")
}

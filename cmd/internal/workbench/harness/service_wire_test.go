package harness_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serviceToken is the token that the fake web services accept. It does not have the form of a known token, so that only
// the domain can have removed it from an answer.
const serviceToken = "the-token-of-the-test-4711"

// service is a fake web service on loopback and the harness that uses it.
type service struct {
	domain, base, key string // the domain and the variables for its URL and its token
}

// start starts a harness with the domain, which uses a fake with these answers. The variables in more override the
// defaults.
func (s service) start(t *testing.T, answer http.HandlerFunc, more ...string) *harness {
	t.Helper()
	fake := httptest.NewServer(answer)
	t.Cleanup(func() {
		fake.CloseClientConnections()
		fake.Close()
	})
	env := append([]string{s.base + "=" + fake.URL, s.key + "=" + serviceToken}, more...)
	h := start(t, setup{env: env, flags: []string{"--domain", s.domain}})
	t.Cleanup(func() {
		if strings.Contains(h.said.String(), serviceToken) {
			t.Errorf("the token is in the log: %s", &h.said)
		}
	})
	return h
}

// says returns a handler with a fixed answer. Headers are "Name: value".
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// stay waits until the client has disconnected, which a server notices only after it has read the request.
func stay(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// trickle begins an answer that never ends.
func trickle(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	stay(w, r)
}

// retryMs returns retryAfterMs of a failure, -1 if it is not retryable.
func (r reply) retryMs() int64 {
	data := r.m.Error().Path("data")
	if retryable, _ := data.Path("retryable").Bool(); !retryable {
		return -1
	}
	ms, _ := data.Path("retryAfterMs").Int64()
	return ms
}

// refusal is a failure of a service, and the error that the client of the harness must get.
type refusal struct {
	answer  http.HandlerFunc
	number  int64
	code    string
	retryMs int64 // -1 is not retryable
	details string
}

// check makes one call fail in each way, in a subtest that has the name of the code.
func (s service) check(t *testing.T, method, params string, refusals map[string]refusal) {
	t.Helper()
	var current http.HandlerFunc
	h := s.start(t, func(w http.ResponseWriter, r *http.Request) { current(w, r) }, "MCP_HTTP_TIMEOUT_MS=1500")
	for name, want := range refusals {
		t.Run(want.code, func(t *testing.T) {
			current = want.answer
			r := h.call(method, params)
			if r.number() != want.number || r.code() != want.code || r.retryMs() != want.retryMs || !strings.Contains(r.details(), want.details) {
				t.Errorf("%s: want %d %s %d %q: %s", name, want.number, want.code, want.retryMs, want.details, r.m.Bytes())
			}
			if strings.Contains(string(r.m.Bytes()), serviceToken) {
				t.Errorf("%s: the token is in the answer: %s", name, r.m.Bytes())
			}
		})
	}
}

package httpapi_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/github"
	"github.com/candor-mcp/candor/internal/limits"
)

const token = "ghp_thisIsTheTokenOfTheTest0123456789"

// newClient returns a client of a server on loopback.
func newClient(t *testing.T, c httpapi.Config, h http.HandlerFunc) *httpapi.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c.Base, c.Token, c.Configured = server.URL+"/v1/", token, true
	client, err := httpapi.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// do sends a request for /thing.
func do(t *testing.T, client *httpapi.Client) (any, error) {
	t.Helper()
	var result any
	_, err := client.Do(t.Context(), httpapi.Request{Path: []string{"thing"}}, &result)
	return result, err
}

// failure requires an error and returns it.
func failure(t *testing.T, client *httpapi.Client, kind httpapi.Kind, reason string) *httpapi.Error {
	t.Helper()
	result, err := do(t, client)
	var e *httpapi.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v, %v", result, err)
	}
	if e.Kind != kind || !strings.Contains(e.Reason, reason) {
		t.Errorf("%d %q, want %d %q", e.Kind, e.Reason, kind, reason)
	}
	if text := fmt.Sprintf("%v %+v %v", e, *e, e.Err); strings.Contains(text, token) {
		t.Errorf("the token is in the error: %s", text)
	}
	return e
}

func TestRequestsAreWrittenAsConfigured(t *testing.T) {
	var got *http.Request
	var body []byte
	client := newClient(t, httpapi.Config{}, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"a": 1}`)
	})
	var result map[string]int
	if _, err := client.Do(t.Context(), httpapi.Request{Path: []string{"a b", "c/d?e"}, Query: map[string][]string{"q": {"x&y"}}, Body: []int{1}}, &result); err != nil {
		t.Fatal(err)
	}
	if got.Method != "POST" || got.RequestURI != "/v1/a%20b/c%2Fd%3Fe?q=x%26y" || string(body) != "[1]" || result["a"] != 1 {
		t.Errorf("%s %s %s", got.Method, got.RequestURI, body)
	}
	if got.Header.Get("Authorization") != "Bearer "+token || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", got.Header)
	}
	for _, element := range []string{"", ".", ".."} {
		if _, err := client.Do(t.Context(), httpapi.Request{Path: []string{"x", element}}, &result); err == nil {
			t.Errorf("the path element %q was sent", element)
		}
	}
}

// TestHostileAnswersAreRefused has one row for each way in which a service can misbehave.
func TestHostileAnswersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind   httpapi.Kind
		reason string
		answer http.HandlerFunc
	}{
		"html": {httpapi.Malformed, "HTML page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!DOCTYPE html><html>") }},
		"not JSON": {httpapi.Malformed, "not JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a":`)
		}},
		"empty": {httpapi.Malformed, "not JSON", func(http.ResponseWriter, *http.Request) {}},
		"deep": {httpapi.Malformed, "nested too deeply", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
		}},
		"large": {httpapi.TooLarge, "larger than 1000000 bytes", func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				_, _ = io.WriteString(w, strings.Repeat(" ", 10_000))
			}
		}},
		"gzip bomb": {httpapi.TooLarge, "larger than 1000000 bytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 20_000 {
				_, _ = io.WriteString(z, strings.Repeat(" ", 10_000))
			}
			_ = z.Close()
		}},
		"bad gzip": {httpapi.Malformed, "incomplete", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "{}")
		}},
		"truncated": {httpapi.Malformed, "incomplete", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{}")
		}},
		"header flood": {httpapi.Malformed, "header is too large", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
			}
		}},
		"no content": {httpapi.Malformed, "unexpected status 204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }},
		"metadata": {httpapi.Redirected, "another address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		}},
		"loop":        {httpapi.Redirected, "too often", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v1/thing", http.StatusFound) }},
		"slow header": {httpapi.Unreachable, "no answer within 500 ms", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"slow body": {httpapi.Slow, "not complete after 500 ms", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(time.Millisecond): // few bytes before the deadline
				}
			}
		}},
		"reset": {httpapi.Unreachable, "connection broke", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}},
		"not HTTP": {httpapi.Malformed, "not HTTP", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n\r\n")
			_ = conn.Close()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := httpapi.Config{MaxBody: 1_000_000}
			if strings.HasPrefix(name, "slow") {
				limits.Timeout = 500 * time.Millisecond
			}
			_ = failure(t, newClient(t, limits, c.answer), c.kind, c.reason)
		})
	}
}

func TestSameHostRedirectIsFollowed(t *testing.T) {
	client := newClient(t, httpapi.Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/thing" {
			http.Redirect(w, r, "/repositories/1", http.StatusMovedPermanently)
			return
		}
		_, _ = io.WriteString(w, `"`+r.Header.Get("Authorization")+`"`)
	})
	if got, err := do(t, client); err != nil || got != "Bearer "+token {
		t.Errorf("%v %v", got, err)
	}
}

func TestUnreachableServicesAreExplained(t *testing.T) {
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = nil
	defer untrusted.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for base, want := range map[string]string{
		"http://127.0.0.1:1": "refused", "https://no-such-host.invalid": "name", untrusted.URL: "TLS", strings.Replace(plain.URL, "http:", "https:", 1): "TLS",
	} {
		client, err := httpapi.New(httpapi.Config{Base: base, Configured: true, Token: token}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = failure(t, client, httpapi.Unreachable, want)
	}
	client, err := httpapi.New(httpapi.Config{Base: plain.URL, Token: token}, nil) // as if the default address resolved to loopback
	if err != nil {
		t.Fatal(err)
	}
	_ = failure(t, client, httpapi.Unreachable, "not on the public network")
}

func TestCancelledRequestIsNotAFailureOfTheService(t *testing.T) {
	client := newClient(t, httpapi.Config{}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	var result any
	if _, err := client.Do(ctx, httpapi.Request{Path: []string{"x"}}, &result); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

var codes = httpapi.Codes{
	Auth: github.AuthFailed, Rate: github.RateLimit, NotFound: github.NotFound, Invalid: common.InvalidParams,
	Network: github.Network, Parse: github.Parse, HTTP: github.HTTP, RateDelay: time.Minute,
}

func TestStatusesBecomeCodes(t *testing.T) {
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		status  int
		headers map[string]string
		body    string
		code    candor.Code
		retryMs int64 // -1 is not retryable
	}{
		{401, nil, `{"message":"Bad credentials"}`, codes.Auth, -1},
		{403, nil, `{"message":"Resource not accessible"}`, codes.Auth, -1},
		{403, map[string]string{"X-RateLimit-Remaining": "59"}, ``, codes.Auth, -1},
		{403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(date.Unix() + 120)}, `{}`, codes.Rate, 120_000},
		{403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(date.Unix() - 5)}, `{}`, codes.Rate, 60_000},
		{403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, `{}`, codes.Rate, 60_000},
		{403, map[string]string{"Retry-After": "7"}, `{}`, codes.Rate, 7_000},
		{429, map[string]string{"Retry-After": date.Add(9 * time.Second).Format(http.TimeFormat)}, ``, codes.Rate, 9_000},
		{429, map[string]string{"Retry-After": "-1"}, ``, codes.Rate, 60_000},
		{429, map[string]string{"Retry-After": "99999999999999999999"}, ``, codes.Rate, 60_000},
		{429, map[string]string{"Retry-After": "2000000000"}, ``, codes.Rate, limits.RetryAfter.Milliseconds()},
		{404, nil, `<html>`, codes.NotFound, -1},
		{410, nil, ``, codes.NotFound, -1},
		{400, nil, `{"detail":{"error":"no"}}`, codes.Invalid, -1},
		{422, nil, `{"detail":[{"msg":"no"}]}`, codes.Invalid, -1},
		{451, nil, ``, codes.HTTP, -1},
		{500, nil, strings.Repeat("[", 100_000), codes.HTTP, 1000},
		{503, map[string]string{"Retry-After": "30"}, ``, codes.HTTP, 30_000},
	} {
		client := newClient(t, httpapi.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", date.Format(http.TimeFormat))
			for name, value := range c.headers {
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := do(t, client)
		var e *candor.Error
		if !errors.As(codes.Fail(err), &e) {
			t.Fatal(err)
		}
		ms := int64(-1)
		if e.Retry().Retryable() {
			ms = e.Retry().AfterMs()
		}
		if e.Code() != c.code || ms != c.retryMs {
			t.Errorf("%d %v: %v %d, want %v %d", c.status, c.headers, e.Code(), ms, c.code, c.retryMs)
		}
		if err := e.Validate(); err != nil {
			t.Errorf("%d: %v", c.status, err)
		}
	}
}

func TestTokenIsHidden(t *testing.T) {
	client := newClient(t, httpapi.Config{}, func(w http.ResponseWriter, r *http.Request) {
		text, _ := json.Marshal(map[string]string{"message": "your header: " + r.Header.Get("Authorization")})
		if r.URL.Query().Get("ok") == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(strings.Replace(string(text), "ghp", `\u0067hp`, 1)))
	})
	if e := failure(t, client, httpapi.Refused, "your header: Bearer [redacted]"); e.Status != 400 {
		t.Error(e.Status)
	}
	var result any
	if _, err := client.Do(t.Context(), httpapi.Request{Path: []string{"x"}, Query: map[string][]string{"ok": {"1"}}}, &result); err != nil {
		t.Fatal(err)
	}
	if text, err := client.Clean(result); err != nil || strings.Contains(string(text), token) || !strings.Contains(string(text), "[redacted]") {
		t.Errorf("%s %v", text, err)
	}
}

func TestConfigFromEnv(t *testing.T) {
	s := httpapi.Service{URL: "https://api.example.com", URLName: "MCP_X_BASE_URL", TokenName: "X_TOKEN"}
	for name, values := range map[string][]string{
		"MCP_X_BASE_URL": {
			"http://api.example.com", "ftp://x", "api.example.com", "https://user:hunter2@x", "https://x/?q", "https://x/#f", "https://", "http://169.254.169.254", "http://10.0.0.1", "file:///etc/passwd", "https:x", "://",
		},
		"X_TOKEN":             {"a b", "a\nb", "ü", strings.Repeat("x", 2000)},
		"MCP_HTTP_TIMEOUT_MS": {"0", "x", "1000000"},
	} {
		for _, value := range values {
			v := domain.Variables{Getenv: func(n string) string { return map[string]string{name: value}[n] }}
			s.Config(&v)
			if err := v.Err; err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") || name == "X_TOKEN" && strings.Contains(err.Error(), value) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	for _, base := range []string{"https://ghe.example.com/api/v3/", "http://localhost:8080", "http://[::1]:80", "http://127.0.0.1:1234/x"} {
		v := domain.Variables{Getenv: func(n string) string { return map[string]string{"MCP_X_BASE_URL": base}[n] }}
		c := s.Config(&v)
		if v.Err != nil || !c.Configured {
			t.Errorf("%s: %v", base, v.Err)
		}
		if _, err := httpapi.New(c, nil); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

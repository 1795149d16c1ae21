package boundary

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/wire"

	"github.com/candor-mcp/candor/dialect"
)

// TestRequestsAreChecked checks Host, Origin, method, media type and size.
func TestRequestsAreChecked(t *testing.T) {
	ping := request("7", "ping", "")
	long := request("7", "tools/call", `{"name":"echo","arguments":{"text":"`+strings.Repeat("x", 5000)+`"}}`)
	for _, row := range []struct {
		name, method, body string
		header             []string
		status             int
		code               string
		id                 string
	}{
		{"another host", "POST", ping, []string{"Host", "evil.example"}, 403, "HOST_REFUSED", ""},
		{"localhost", "POST", ping, []string{"Host", "localhost:1234"}, 200, "", "7"},
		{"a listed host", "POST", ping, []string{"Host", "api.example.com:443"}, 200, "", "7"},
		{"another origin", "POST", ping, []string{"Origin", "https://evil.example"}, 403, "ORIGIN_REFUSED", ""},
		{"a listed origin", "POST", ping, []string{"Origin", "https://app.example.com"}, 200, "", "7"},
		{"PUT", "PUT", ping, nil, 405, "METHOD_NOT_ALLOWED", ""},
		{"a form", "POST", ping, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "MEDIA_TYPE_UNSUPPORTED", ""},
		{"packed", "POST", ping, []string{"Content-Encoding", "gzip"}, 415, "MEDIA_TYPE_UNSUPPORTED", ""},
		{"JSON with a charset", "POST", ping, []string{"Content-Type", "application/json; charset=utf-8"}, 200, "", "7"},
		{"too large", "POST", long, nil, 413, "MESSAGE_TOO_LARGE", "7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, streamable(mcp.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true}), func(o *Options) {
				o.Hosts, o.Origins, o.MaxMessage = []string{"api.example.com", "mcp.example.com:8443"}, []string{"https://app.example.com"}, 4096
			})
			res := r.do(t, row.method, row.body, row.header...)
			if res.status != row.status || res.id() != row.id {
				t.Fatalf("%d %s", res.status, res.body)
			}
			entries, counts, _ := r.totals()
			if row.code == "" {
				if entries != 0 {
					t.Errorf("a success was recorded: %v", r.last())
				}
				return
			}
			if e := res.failure(t); e == nil || e.Code().Symbol() != row.code || entries != 1 || counts != 1 || e.Ref() != r.last().Ref() {
				t.Errorf("%v: %d entries, %d counts", e, entries, counts)
			}
			const denied = `"_meta":{"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"unavailable"}}`
			if strings.Contains(string(res.body), denied) != (row.status == 403) {
				t.Errorf("a denial: %s", res.body)
			}
			if row.status == 405 && res.header.Get("Allow") != "GET, POST, DELETE" {
				t.Errorf("Allow: %q", res.header.Get("Allow"))
			}
		})
	}
}

// layerOf returns the handler that HTTP returns.
func layerOf(b *Boundary, next http.Handler) *httpLayer {
	return b.HTTP(next).(*httpLayer) //nolint:errcheck,forcetypeassert // it is
}

func TestEndlessBodyTimesOut(t *testing.T) {
	r := &rig{tally: new(tally)}
	layer := layerOf(New(Options{Ledger: r.tally, Meter: r.tally, Logger: quiet}), http.NotFoundHandler())
	layer.bodyTimeout = 20 * time.Millisecond
	r.Server = httptest.NewServer(layer)
	defer r.Close()
	body, hold := io.Pipe()
	defer func() { _ = hold.Close() }()
	go func() { _, _ = io.WriteString(hold, `{"jsonrpc":`) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if e := r.last(); res.StatusCode != http.StatusRequestTimeout || e == nil || e.Code().Symbol() != "TIMEOUT" {
		t.Errorf("%d %v", res.StatusCode, e)
	}
}

func TestProblemDialectSendsDocumentsForRefusedRequests(t *testing.T) {
	r := newRig(t, bothEras, func(o *Options) { o.Dialect = dialect.Must("problem") })
	for _, row := range []struct {
		res    httpReply
		status string
		code   string
	}{
		{r.do(t, "POST", "{}", "Host", "evil.example"), "403", "HOST_REFUSED"},
		{r.do(t, "PATCH", "{}"), "405", "METHOD_NOT_ALLOWED"},
		{r.do(t, "POST", "{}", "Content-Type", "text/xml"), "415", "MEDIA_TYPE_UNSUPPORTED"},
	} {
		v, err := wire.ParseValue(row.res.body, wire.Limits{})
		if err != nil || row.res.header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("%v: %s %s", err, row.res.header.Get("Content-Type"), row.res.body)
		}
		e, err := dialect.Must("problem").Read(v)
		if err != nil || e.Code().Symbol() != row.code || string(v.Path("status").Raw()) != row.status {
			t.Errorf("%v %v: %s", e, err, row.res.body)
		}
	}
	if res := r.do(t, "POST", "nonsense"); res.failure(t) == nil || res.header.Get("Content-Type") != "application/json" {
		t.Errorf("what answers a message is JSON-RPC: %s", res.body)
	}
	if entries, counts, _ := r.totals(); entries != 4 || counts != 4 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}

func TestARefusalThatCannotBeRecordedSaysOnlyThat(t *testing.T) {
	for _, name := range []string{"candor", "problem"} {
		r := newRig(t, bothEras, func(o *Options) { o.Dialect = dialect.Must(name) })
		r.refuse = errors.New("no space left")
		res := r.do(t, "POST", "{}", "Host", "evil.example")
		if res.status != 403 || !strings.Contains(string(res.body), "AUDIT_LOG_FAILED") || r.unrecorded != 1 {
			t.Errorf("%s: %d %s", name, res.status, res.body)
		}
		if res = r.do(t, "POST", "nonsense"); res.failure(t).Code().Symbol() != "AUDIT_LOG_FAILED" || r.total != 0 {
			t.Errorf("%s: %s", name, res.body)
		}
	}
}

func TestAuthorizationResponsesPassUnchanged(t *testing.T) {
	for _, status := range []int{401, 403, 405} {
		inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://x"`)
			http.Error(w, "no token, no entry", status)
		})
		r := newRig(t, func(*Boundary, *mcp.Server) http.Handler { return inner }, nil)
		res := r.do(t, "POST", request("1", "ping", ""))
		if res.status != status || string(res.body) != "no token, no entry\n" || res.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%d %v %s", res.status, res.header, res.body)
		}
		if entries, _, _ := r.totals(); entries != 0 {
			t.Errorf("%d was recorded", status)
		}
	}
}

func TestTextOfInnerHandlerIsKept(t *testing.T) {
	for _, row := range []struct {
		status  int
		kind    string
		body    string
		code    string // "" if it passes unchanged
		message string
	}{
		{429, "text/plain", "slow down, tenant 7", "RATE_LIMITED", "slow down, tenant 7"},
		{400, "text/plain", "which tenant?", "INVALID_REQUEST", "which tenant?"},
		{503, "text/plain", "db at 10.0.0.3 away", "UNAVAILABLE", "The service is not available at the moment."},
		{500, "text/plain", "secret stack", "INTERNAL_ERROR", "An unexpected error occurred."},
		{404, "", "", "NOT_FOUND", "The requested object does not exist."},
		{400, "application/json", `{"error":"their own shape"}`, "", ""},
		{500, "text/html", `<h1>no</h1>`, "", ""},
	} {
		inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if row.kind != "" {
				w.Header().Set("Content-Type", row.kind)
			}
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(row.status)
			_, _ = w.Write([]byte(row.body))
		})
		r := newRig(t, func(*Boundary, *mcp.Server) http.Handler { return inner }, nil)
		res := r.do(t, "POST", request("1", "ping", ""))
		if row.code == "" {
			if entries, _, _ := r.totals(); string(res.body) != row.body || entries != 0 {
				t.Errorf("%d: %s", row.status, res.body)
			}
			continue
		}
		e := res.failure(t)
		if res.status != row.status || e == nil || e.Code().Symbol() != row.code || e.Message() != row.message || e.Retry().String() == "not_retryable" {
			t.Errorf("%d: %s", row.status, res.body)
		}
	}
}

func TestPanicIsAnswered(t *testing.T) {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/late":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(": begun\n\n"))
			_ = http.NewResponseController(w).Flush()
		}
		panic("boom")
	})
	r := newRig(t, func(*Boundary, *mcp.Server) http.Handler { return inner }, nil)
	r.Config.ErrorLog = nil
	res := r.do(t, "POST", request("1", "ping", ""))
	if e := res.failure(t); res.status != 500 || res.id() != "1" || res.number() != -32603 || e == nil || strings.Contains(string(res.body), "goroutine") {
		t.Errorf("%d %s", res.status, res.body)
	}
	if res := r.do(t, "GET", ""); res.status != 500 || res.failure(t) == nil {
		t.Errorf("%d %s", res.status, res.body)
	}
	for path, more := range map[string]int{"/abort": 0, "/late": 1} {
		before, _, unsaid := r.totals()
		req, _ := http.NewRequestWithContext(t.Context(), "POST", r.URL+path, strings.NewReader(request("1", "ping", "")))
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = res.Body.Read(make([]byte, 100))
			for err == nil {
				_, err = res.Body.Read(make([]byte, 100))
			}
			_ = res.Body.Close()
		}
		if err == nil || err.Error() == "EOF" {
			t.Errorf("%s: the connection ended well", path)
		}
		if entries, counts, suppressed := r.totals(); entries != before+more || counts != entries || suppressed != unsaid+more {
			t.Errorf("%s: %d entries, %d counts, %d suppressed", path, entries-before, counts, suppressed-unsaid)
		}
	}
}

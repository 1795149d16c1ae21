package console_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

const token = "correct horse battery staple"

// site is a console over a ledger that the test writes.
type site struct {
	t      *testing.T
	dir    string
	ledger *ledger.Ledger
	store  *failures.Store
	server *console.Server
	http   *httptest.Server
	nodes  bool         // the folder has the ledgers of many nodes
	cookie *http.Cookie // of the login by the link
}

// open starts a console. The options need no folder.
func open(t *testing.T, o console.Options) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	var err error
	if s.ledger, err = ledger.Open(s.dir, ledger.Options{Instance: "test"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.ledger.Close() })
	s.serve(o)
	return s
}

// serve reads the ledger anew, and starts a console over it.
func (s *site) serve(o console.Options) {
	s.t.Helper()
	t := s.t
	var err error
	if s.store, err = failures.Open(s.dir, failures.Options{Poll: 10 * time.Millisecond, Nodes: s.nodes}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.store.Run(ctx) })
	<-s.store.Ready()
	o.Dir, o.Failures, o.Version = s.dir, s.store, "test"
	s.server = console.New(o)
	s.http = httptest.NewServer(s.server)
	server, web, store := s.server, s.http, s.store
	t.Cleanup(func() { server.Close(); web.Close(); cancel(); running.Wait(); _ = store.Close() })
	res, _ := s.request("GET", s.server.LoginPath(), "", anonymous)
	if len(res.Cookies) != 1 || res.Header.Get("Location") != "/" {
		t.Fatalf("the link to log in: status %d", res.StatusCode)
	}
	s.cookie = res.Cookies[0]
}

// failed is a failure to record.
type failed struct {
	server, tool, said, session string
	code                        candor.Code
	suspected, masked           bool
	suggestion, client          string
}

// add records a failure and waits until the console has it.
func (s *site) add(f failed) ledger.Receipt {
	s.t.Helper()
	if f.code == 0 {
		f.code = candor.CodeNotFound
	}
	e := candor.New(f.code, f.said, candor.WithTool(f.tool), candor.WithOrigin(candor.PartyTool, true), candor.WithSuggestion(f.suggestion), candor.WithRef(fmt.Sprintf("ref%017d", time.Now().UnixNano()%1e17)))
	said := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}],"isError":%v}}`, quoteJSON(f.said), !f.suspected && !f.masked)
	failure := candor.Failure{Error: e, Method: "tools/call", Verdict: "tool", Latency: 12 * time.Millisecond, Attempt: 1, Upstream: f.server, Client: f.client, Suspected: f.suspected, Received: said}
	if !f.suspected {
		failure.Sent = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}],"isError":true,"_meta":{"dev.candor/error":%s}}}`, quoteJSON(f.said), e.AppendJSON(nil, candor.JSONOptions{}))
	}
	if f.suspected || f.masked {
		failure.Verdict = "masked"
	}
	entry := ledger.FailureEntry(failure)
	entry.SessionID = f.session
	receipt, err := s.ledger.Append(context.Background(), entry)
	if err != nil {
		s.t.Fatal(err)
	}
	id := failures.ID{Chain: receipt.Chain, Seq: receipt.Seq}
	wait.Until(s.t, "the failure in the list", func() bool {
		page, err := s.store.List(context.Background(), failures.Filter{}, "", 1)
		return err == nil && len(page.Failures) > 0 && page.Failures[0].ID == id
	})
	return receipt
}

// answer is a response without its body.
type answer struct {
	StatusCode int
	Header     http.Header
	Cookies    []*http.Cookie
}

// request sends a request of a browser that is logged in. header may change it.
func (s *site) request(method, path, body string, header func(*http.Request)) (answer, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if header != nil {
		header(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, res.Cookies()}, string(data)
}

// get returns a page, which must be served.
func (s *site) get(path string) string {
	s.t.Helper()
	res, body := s.request("GET", path, "", nil)
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: status %d\n%s", path, res.StatusCode, body)
	}
	return body
}

// anonymous makes a request one of another user of the machine.
func anonymous(r *http.Request) { r.Header.Del("Cookie") }

func bearer(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }

func contains(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("the page does not contain %q", part)
		}
	}
}

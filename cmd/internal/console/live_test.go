package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console"
)

// follow opens a stream and returns a function that waits for the data of the next event of a kind.
func (s *site) follow(path string) (next func(kind string) string, end func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.AddCookie(s.cookie)
	res, err := http.DefaultClient.Do(r) //nolint:bodyclose // end closes it
	if err != nil {
		s.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.t.Fatalf("GET %s is %s, status %d", path, kind, res.StatusCode)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	next = func(kind string) string {
		s.t.Helper()
		for lines.Scan() {
			if lines.Text() == "event: "+kind && lines.Scan() {
				return strings.TrimPrefix(lines.Text(), "data: ")
			}
		}
		s.t.Fatalf("the stream ended without %s: %v", kind, lines.Err())
		return ""
	}
	lines.Scan() // the server has subscribed
	return next, func() { cancel(); _ = res.Body.Close() }
}

func TestLiveFeedShowsNewFailures(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "before"})
	rows, end := s.follow("/live?server=shop")
	defer end()
	events, endEvents := s.follow("/api/v1/events?server=shop")
	defer endEvents()
	s.add(failed{server: "files", tool: "read", said: "another server"})
	s.add(failed{server: "shop", tool: "search", said: "<b>now</b>"})
	var got struct {
		HTML  string
		Count int
	}
	if err := json.Unmarshal([]byte(rows("rows")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Count != 1 || !strings.Contains(got.HTML, `&lt;b&gt;now&lt;/b&gt;`) || strings.Contains(got.HTML, "another server") {
		t.Errorf("the rows are %d: %s", got.Count, got.HTML)
	}
	if data := events("failure"); !strings.Contains(data, `"server":"shop"`) || !strings.Contains(data, "now") {
		t.Errorf("the event is %s", data)
	}
	s.server.Verify()
	if data := rows("record"); !strings.Contains(data, "Verifying") && !strings.Contains(data, "Record whole") {
		t.Errorf("the record is %s", data)
	}
}

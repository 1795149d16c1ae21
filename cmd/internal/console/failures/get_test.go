package failures_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

func TestGetReturnsTheLineOfAFailure(t *testing.T) {
	ctx, dir, random := context.Background(), t.TempDir(), rand.New(rand.NewPCG(10, 10))
	writeChains(t, dir, random)
	s := open(t, dir, failures.Options{})
	for _, want := range scan(t, dir) {
		record, raw, err := s.Get(ctx, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := failures.Of(record); got != want || !strings.Contains(string(raw), record.Hash) {
			t.Errorf("%s: got %+v\nwant %+v", want.ID, got, want)
		}
	}
	for _, id := range []failures.ID{{}, {Chain: "../keys", Seq: 1}, {Chain: scan(t, dir)[0].ID.Chain, Seq: 1}, {Chain: "x-20261115T040506789Z-0123abcd", Seq: 2}} {
		if _, _, err := s.Get(ctx, id); !errors.Is(err, failures.ErrNotFound) {
			t.Errorf("%v: %v, want ErrNotFound", id, err)
		}
	}
}

func TestFindSimilarAndTimeline(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	for i := range 30 {
		err := candor.New(sampleCodes[i%2], "broken", candor.WithTool("t"), candor.WithRef(fmt.Sprintf("%02d-00000000000000", i)))
		e := ledger.EntryOf(err)
		e.SessionID = fmt.Sprint("session ", i%3)
		if _, err := l.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, failures.Options{})
	for prefix, want := range map[string]int{"": 0, "1": 10, "12-00": 1, "12-00000000000000": 1, "12-00000000000001": 0} {
		if list, err := s.Find(ctx, prefix); err != nil || len(list) != want {
			t.Errorf("ref %q: %d failures, %v; want %d", prefix, len(list), err, want)
		}
	}
	list, err := s.Find(ctx, "12")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	similar, err := s.Similar(ctx, list[0], 5)
	if err != nil || len(similar) != 5 {
		t.Fatalf("%d similar failures, %v; want 5", len(similar), err)
	}
	for i := range similar {
		if x := &similar[i]; x.ID == list[0].ID || x.Code != list[0].Code {
			t.Errorf("%s %s is not similar to %s %s", x.ID, x.Code, list[0].ID, list[0].Code)
		}
	}
	timeline, more, err := s.Timeline(ctx, "session 1")
	if err != nil || more || len(timeline) != 10 || timeline[0].Ref != "01-00000000000000" {
		t.Errorf("timeline of %d failures, more %v, %v; want 10, oldest first", len(timeline), more, err)
	}
	if _, err := s.List(ctx, failures.Filter{}, "o-not-a-cursor", 10); !errors.Is(err, failures.ErrCursor) {
		t.Errorf("a wrong cursor: %v, want ErrCursor", err)
	}
}

func TestMessageIsWhatTheServerSaid(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	long := strings.Repeat("ä", 1000)
	tests := []struct{ received, sent, cause, want string }{
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"disk \"full\"\n"}}`, "", "", "disk \"full\"\n"},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":" boom "}],"isError":true}}`, "", "", "boom"},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"error\":\"inner\"}"}]}}`, "", "", "inner"},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image"},{"type":"text","text":"{\"error\":{\"message\":\"deep\"}}"}]}}`, "", "", "deep"},
		{`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{}}}`, `{"code":"TIMEOUT","message":"sent"}`, "cause", "sent"},
		{"", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"TIMEOUT: it took long\nRetry: do not retry"}],"isError":true,"_meta":{"dev.candor/error":{"code":"TIMEOUT","message":"it took long"}}}}`, "", "it took long"},
		{`not JSON`, "", "the cause", "the cause"},
		{`{"error":"plain"}`, "", "", "plain"},
		{"", "", long, long[:296] + "…"},
		{"", "", "", ""},
	}
	for _, test := range tests {
		e := ledger.Entry{Kind: ledger.KindFailure, Cause: test.cause}
		if test.received != "" {
			e.Upstream = []byte(test.received)
		}
		if test.sent != "" {
			e.Envelope = []byte(test.sent)
		}
		if _, err := l.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, failures.Options{})
	page, err := s.List(ctx, failures.Filter{}, "", 100)
	if err != nil || len(page.Failures) != len(tests) {
		t.Fatal(len(page.Failures), err)
	}
	for i, test := range tests {
		if got := page.Failures[len(tests)-1-i].Message; got != test.want {
			t.Errorf("%s%s: %q, want %q", test.received, test.cause, got, test.want)
		}
	}
}

func TestSearchIgnoresCaseAndEscapes(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	for _, message := range []string{`Connection REFUSED`, `caf\u00e9 \u0043LOSED`, `a\"b\\c\/d\ne`, "300 \u212a", strings.Repeat("x", 10_000)} {
		e := ledger.Entry{Kind: ledger.KindFailure, Tool: "the_Tool", Upstream: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"` + message + `"}}`)}
		if _, err := l.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, failures.Options{})
	for text, want := range map[string]uint64{
		"connection refused": 1, "REFUSED": 1, "Closed": 1, "CAFÉ": 1, `A"B\C/D`: 1, "d\nE": 1, "300 k": 1, "xxxx": 1, "THE_TOOL": 5, "jsonrpc": 0,
	} {
		page, err := s.List(ctx, failures.Filter{Text: text}, "", 10)
		if err != nil || page.Total != want || len(page.Failures) != int(want) {
			t.Errorf("%q: %d failures, %v; want %d", text, page.Total, err, want)
		}
	}
}

// TestRepeatedFailureIsShownOnce checks that the list and the counts leave out a server's entry that a gateway's entry, or a failed attempt,
// names, and that its ref still finds it.
func TestRepeatedFailureIsShownOnce(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	made := func(ref, theirs string) *candor.Error {
		return candor.New(candor.CodeTimeout, "", candor.WithRef(ref), candor.WithDetails(map[string]any{"upstream": map[string]any{"ref": theirs}}))
	}
	server, gateway := openLedger(t, dir, ledger.Options{Instance: "shop"}), openLedger(t, dir, ledger.Options{Instance: "wrap"})
	for _, f := range []candor.Failure{{Error: made("a1", "")}, {Error: made("a2", "")}, {Error: made("a3", "")}} {
		if err := server.RecordFailure(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []candor.Failure{{Error: made("b1", "a1"), Upstream: "front", Retried: true}, {Error: made("b2", "a2"), Upstream: "front"}} {
		if err := gateway.RecordFailure(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, failures.Options{})
	sum, err := s.Summarize(ctx, failures.Filter{})
	if err != nil || sum.Total != 2 || len(sum.Servers) != 2 {
		t.Errorf("%d failures of %v, %v; want b2 and a3", sum.Total, sum.Servers, err)
	}
	if found, err := s.Find(ctx, "a1"); err != nil || len(found) != 1 {
		t.Errorf("a1: %v, %v", found, err)
	}
}

package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Over HTTP, protocol version 2026-07-28 has no sessions, so a client that keeps failing cannot be distinguished from others.
func TestRepeatedFailuresWithoutASessionAreNotRefused(t *testing.T) {
	for _, c := range []struct {
		session string
		stopped bool
	}{{"s1", true}, {"", false}} {
		up := New(Options{Repeats: RepeatPolicy{After: 2}})
		for id := range 3 {
			request := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{}}}`, id)
			m := wire.Parse([]byte(request), wire.Limits{})
			call, refusal := up.Admit(t.Context(), &m, c.session)
			if id < 2 {
				call.Close(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"no such file"}],"isError":true}}`, id))
				continue
			}
			if stopped := strings.Contains(string(refusal), "REPEATED_FAILURE"); stopped != c.stopped {
				t.Errorf("session %q: stopped %t, want %t: %s", c.session, stopped, c.stopped, refusal)
			}
		}
	}
}

func TestCorrectedCallIsNotRefused(t *testing.T) {
	up := New(Options{Repeats: RepeatPolicy{After: 2}})
	ask := func(request string) (*Call, string) {
		m := wire.Parse([]byte(request), wire.Limits{})
		call, refusal := up.Admit(t.Context(), &m, "s1")
		return call, string(refusal)
	}
	list, _ := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	list.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","inputSchema":{"type":"object","required":["path"]}}]}}`))
	const bad = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}`
	for range 2 {
		if _, refusal := ask(bad); !strings.Contains(refusal, "INVALID_ARGUMENTS") {
			t.Fatalf("bad arguments came back as %s", refusal)
		}
	}
	if _, refusal := ask(bad); !strings.Contains(refusal, "REPEATED_FAILURE") {
		t.Errorf("the same mistake again came back as %s", refusal)
	}
	if call, refusal := ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}`); call == nil {
		t.Errorf("a call that was mended is refused: %s", refusal)
	}
}

// TestRefusalsOfTheBreakerAreNotRepeatedFailures repeats a call while its server rests.
func TestRefusalsOfTheBreakerAreNotRepeatedFailures(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 1}, Repeats: RepeatPolicy{After: 2}})
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`
	m := wire.Parse([]byte(request), wire.Limits{})
	call, _ := up.Admit(t.Context(), &m, "s1")
	call.Fail(t.Context(), candor.New(candor.CodeUpstreamGone, ""))
	for try := range 4 {
		if _, refusal := up.Admit(t.Context(), &m, "s1"); !strings.Contains(string(refusal), `"text":"CIRCUIT_OPEN`) {
			t.Errorf("try %d while the server rests came back as %s", try, refusal)
		}
	}
}

func TestLongNamesAreNotRemembered(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, name := range []struct{ session, tool string }{{"s1", long}, {long, "read"}} {
		up := New(Options{})
		m := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, name.tool), wire.Limits{})
		call, _ := up.Admit(t.Context(), &m, name.session)
		call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`))
		if len(up.repeats.sessions) > 0 {
			t.Errorf("a name of %d bytes is kept", len(long))
		}
	}
}

// A client with many sessions does not end the refusals of another one.
func TestOtherSessionsDoNotEndTheRefusalsOfOne(t *testing.T) {
	at := time.Unix(0, 0) // no trial comes due
	up := New(Options{Repeats: RepeatPolicy{After: 2}, Breaker: BreakerPolicy{Off: true}, Now: func() time.Time { return at }})
	reaches := func(session string) bool {
		call := knockIn(t, up, session, "work")
		if call != nil {
			call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no such file"}],"isError":true}}`))
		}
		return call != nil
	}
	reaches("loop")
	reaches("loop")
	for i := range maxStreaks {
		reaches(fmt.Sprint("s", i))
		if i%1000 == 0 && reaches("loop") {
			t.Fatalf("the loop reached the server again after %d other sessions", i)
		}
	}
	if r := &up.repeats; r.size > maxStreaks || len(r.sessions) > maxStreaks {
		t.Errorf("%d streaks of %d sessions are kept", r.size, len(r.sessions))
	}
}

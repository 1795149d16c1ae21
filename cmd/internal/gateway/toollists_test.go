package gateway

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// heap returns the bytes that are in use after a collection.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A server may list very many tools. Their schemas are compiled when they are called: compiling all would take most of a gigabyte.
func TestSchemasAreCompiledAtTheFirstCall(t *testing.T) {
	s := wrapped(t, Options{Validate: ValidationStrict}, listChild(listsMany))
	s.greet()
	before := heap()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if list := s.answer("1"); len(list) < 1<<20 {
		t.Fatalf("the list has %d bytes", len(list))
	}
	for id := 2; id < 12; id++ {
		s.call(id, fmt.Sprintf("t%d", id), `{"p3":"No"}`)
		if answer := s.answer(fmt.Sprint(id)); codeOf(answer) != "INVALID_ARGUMENTS" {
			t.Errorf("call %d is not checked: %.200s", id, answer)
		}
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("the list takes %d MiB", grown>>20)
	}
}

// While the gateway's own list is unanswered, a ping passes the call that waits for it, and the call is still made in time.
func TestUnansweredListHoldsUpNothing(t *testing.T) {
	child := listChild(listsNothing)
	child.Drain = time.Hour
	s := wrapped(t, Options{Timeout: 2 * time.Second}, child)
	s.greet()
	s.call(1, "work", `{}`)
	s.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	if first := s.next(); !strings.Contains(first, `"id":"ping"`) {
		t.Errorf("the ping waits for the list: first came %s", first)
	}
	if answer := s.answer("1"); !strings.Contains(answer, "done") {
		t.Errorf("the call was lost with the list: %s", answer)
	}
	s.hangUp() // which takes an hour if the list is waited for
}

// learnAll has a budget learn a list for each of many callers.
func learnAll(b *listBudget, callers int, list func(i int) string) *toolCache {
	cache := &toolCache{}
	for i := range callers {
		result, _ := wire.ParseValue([]byte(list(i)), wire.Limits{})
		b.learn(cache.set(caller{session: fmt.Sprint("s", i)}), result, "")
	}
	return cache
}

func TestListBudgetHoldsOverAllCallers(t *testing.T) {
	const most = 256 << 10
	b := newListBudget(most)
	cache := learnAll(b, 200, func(i int) string {
		return fmt.Sprintf(`{"tools":[{"name":"t","inputSchema":{"type":"object","title":"%d%s"}}]}`, i, strings.Repeat("x", 10_000))
	})
	if b.used > most || b.used <= 0 || len(b.lists) != b.sets.Len() || len(cache.sets) != b.sets.Len() {
		t.Errorf("%d bytes are used, of %d lists and %d sets; %d callers are known", b.used, len(b.lists), b.sets.Len(), len(cache.sets))
	}
	if cache.find(caller{session: "s0"}).current() != nil || cache.find(caller{session: "s199"}).current() == nil {
		t.Error("the newest list was dropped, or the oldest was not")
	}
	b.drop(cache.sets)
	if b.used != 0 || b.sets.Len() != 0 || len(b.lists) != 0 {
		t.Errorf("%d bytes, %d sets and %d lists are left", b.used, b.sets.Len(), len(b.lists))
	}
}

func TestEqualListsAreKeptOnce(t *testing.T) {
	b := newListBudget(1 << 20)
	list := `{"tools":[{"name":"t","inputSchema":{"type":"object","title":"` + strings.Repeat("x", 100_000) + `"}}]}`
	cache := learnAll(b, 50, func(int) string { return list })
	if len(b.lists) != 1 || b.sets.Len() != 50 {
		t.Errorf("%d lists are kept for %d callers", len(b.lists), b.sets.Len())
	}
	for _, s := range cache.sets {
		if s.current() == nil || s.current() != cache.find(caller{session: "s0"}).current() {
			t.Fatal("a caller has a list of its own, or none")
		}
	}
}

// Pages that never end, of many callers, are bounded as whole lists are.
func TestListBudgetHoldsForPages(t *testing.T) {
	const most = 256 << 10
	b, cache := newListBudget(most), &toolCache{}
	for i := range 100 {
		cursor := ""
		for j := range 5 {
			result, _ := wire.ParseValue(fmt.Appendf(nil, `{"tools":[{"name":"t%d","inputSchema":{"type":"object","title":"%s"}}],"nextCursor":"%d"}`,
				j, strings.Repeat("x", 5_000), j), wire.Limits{})
			b.learn(cache.set(caller{session: fmt.Sprint("s", i)}), result, cursor)
			cursor = fmt.Sprint(j)
		}
		if b.used > most {
			t.Fatalf("%d bytes are used after %d callers", b.used, i)
		}
	}
	b.drop(cache.sets)
	if b.used != 0 {
		t.Errorf("%d bytes are left", b.used)
	}
}

// Some servers end their list with an empty cursor.
func TestEmptyCursorEndsTheList(t *testing.T) {
	for _, end := range []string{`""`, `null`} {
		bubble(t, func(t *testing.T) {
			d := met(t, Options{})
			go d.say(toolCall(1, "work", `{}`))
			d.asks(`{"tools":[{"name":"other"}],"nextCursor":"2"}`)
			d.asks(`{"tools":[{"name":"work","inputSchema":{"type":"object","required":["x"]}}],"nextCursor":` + end + `}`)
			d.client()
			d.wantTold("INVALID_ARGUMENTS")
			d.wantHeard()
		})
	}
}

// Clients without a session share a server. Its list for one of them does not bind the next.
func TestClientsThatShareAServerHaveListsOfTheirOwn(t *testing.T) {
	s := spanned(t, Options{}, listChild(listsApart), BridgeOptions{})
	call := func(client, arguments string) string {
		return s.send("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":`+arguments+
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"`+client+
			`","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			versionHeader, statelessVersion, "Mcp-Method", "tools/call", "Mcp-Name", "work").body
	}
	for _, c := range []struct{ client, arguments, code string }{
		{"a", `{"for_a":1}`, ""}, {"b", `{"for_b":1}`, ""}, {"a", `{"for_b":1}`, "INVALID_ARGUMENTS"}, {"b", `{"for_a":1}`, "INVALID_ARGUMENTS"},
	} {
		if got := call(c.client, c.arguments); codeOf(got) != c.code {
			t.Errorf("%s calls with %s: %s", c.client, c.arguments, got)
		}
	}
}

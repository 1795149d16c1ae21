package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

func startGraph(t testing.TB, state string, limit int) *harness {
	t.Helper()
	return start(t, setup{state: state, flags: []string{"--domain", "kg"}, env: []string{fmt.Sprintf("MCP_KG_MAX_TRIPLES=%d", limit)}})
}

func triple(subject, predicate, object string) string {
	return fmt.Sprintf(`{"subject":%q,"predicate":%q,"object":%q}`, subject, predicate, object)
}

func TestGraphAddsQueriesAndDeletes(t *testing.T) {
	t.Parallel()
	h := startGraph(t, "", 3)
	for i, want := range []string{`{"added":true,"total":1}`, `{"added":false,"total":1}`} {
		if got := string(h.call("kg/add", triple("Ada", "wrote", "Note G")).result().Raw()); got != want {
			t.Errorf("add %d: %s, want %s", i, got, want)
		}
	}
	h.call("kg/add", triple("Ada", "knew", "Bäbbage")).result()
	h.call("kg/add", triple("ada", "wrote", "Note G")).result() // case matters
	full := h.call("kg/add", triple("one", "too", "many")).fails(2400, "kg/E_KG_FULL")
	if retryable, _ := full.m.Error().Path("data", "retryable").Bool(); !retryable {
		t.Errorf("E_KG_FULL is retryable: %s", full.m.Bytes())
	}
	h.call("kg/add", triple("Ada", "wrote", "Note G")).result() // it exists, so nothing is added
	page := string(h.call("kg/query", `{"subject":"Ada","limit":1}`).result().Raw())
	if page != `{"triples":[{"subject":"Ada","predicate":"wrote","object":"Note G"}],"truncated":true,"nextCursor":"after:1"}` {
		t.Errorf("first page: %s", page)
	}
	page = string(h.call("kg/query", `{"subject":"Ada","limit":1,"cursor":"after:1"}`).result().Raw())
	if !strings.Contains(page, "Bäbbage") || !strings.Contains(page, `"truncated":false`) {
		t.Errorf("second page: %s", page)
	}
	h.call("kg/delete", triple("Ada", "knew", "Bäbbage")).result()
	h.call("kg/add", triple("one", "more", "fits")).result()
	for params, want := range map[string]string{`{"q":"NOTE"}`: "Note G", `{"q":"%"}`: `"triples":[]`, `{"q":"FITS"}`: `"more"`} {
		if got := string(h.call("kg/search", params).result().Raw()); !strings.Contains(got, want) {
			t.Errorf("search %s: %s", params, got)
		}
	}
	stats := string(h.call("kg/stats", `{}`).result().Raw())
	if stats != `{"triples":3,"limit":3,"subjects":3,"predicates":2,"objects":2}` {
		t.Errorf("stats: %s", stats)
	}
	if got := string(h.call("kg/delete_entity", `{"entity":"Note G"}`).result().Raw()); got != `{"deleted":2,"total":1}` {
		t.Errorf("delete_entity: %s", got)
	}
	many := `{"triples":[` + triple("one", "more", "fits") + `,` + triple("x", "y", "z") + `]}`
	if got := string(h.call("kg/add_many", many).result().Raw()); got != `{"added":1,"total":2}` {
		t.Errorf("add_many: %s", got)
	}
	h.send(`{"jsonrpc":"2.0","id":"none","method":"kg/query"}`)
	if got := string(h.line()); !strings.Contains(got, `"triples":[`) {
		t.Errorf("a query without params: %s", got)
	}
}

func TestGraphRefusesInvalidTriples(t *testing.T) {
	t.Parallel()
	h := startGraph(t, "", 10)
	for _, params := range []string{
		`{"subject":" ","predicate":"b","object":"c"}`, `{"subject":"a","predicate":"","object":"c"}`,
		`{"subject":"a\u0000","predicate":"b","object":"c"}`,
	} {
		h.call("kg/add", params).fails(2401, "kg/E_KG_INVALID_TRIPLE")
		h.call("kg/delete", params).fails(2401, "kg/E_KG_INVALID_TRIPLE")
	}
	h.call("kg/add", `{"subject":"a","predicate":"b","object":7}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("kg/add_many", `{"triples":[`+triple("a", "b", "c")+`,`+triple("a", " ", "c")+`]}`).fails(2401, "kg/E_KG_INVALID_TRIPLE")
	if got := h.call("kg/add", triple(" ", "b", "")).details(); got != `"subject: empty; object: empty"` {
		t.Errorf("details: %s", got)
	}
	h.call("kg/add", triple("a", "b", strings.Repeat("x", 4097))).fails(1005, "common/E_INPUT_TOO_LARGE")
	h.call("kg/query", `{"cursor":"junk"}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("kg/query", `{"subject":7}`).fails(1000, "common/E_INVALID_PARAMS")
	quoted := triple("'; DROP TABLE triple; --", "%", "\\")
	h.call("kg/add", quoted).result()
	if got := string(h.call("kg/query", `{"object":"\\"}`).result().Raw()); !strings.Contains(got, "DROP TABLE") {
		t.Errorf("a triple that looks like SQL: %s", got)
	}
}

// TestGraphSurvivesKill kills the harness while additions are in flight. Every answered addition must be present
// afterwards, and the count must equal the number of triples.
func TestGraphSurvivesKill(t *testing.T) {
	t.Parallel()
	const rounds, each = 5, 40
	state := t.TempDir()
	answered := map[string]bool{}
	for round := range rounds {
		h := startGraph(t, state, 100_000)
		for i := range each {
			h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d-%d","method":"kg/add","params":%s}`, round, i, triple(fmt.Sprintf("%d-%d", round, i), "p", "o")))
		}
		for range 5 + round*5 { // then it is killed in the middle
			line := string(h.line())
			_, rest, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			if !strings.Contains(line, `"added":true`) {
				t.Fatalf("not added: %s", line)
			}
			answered[id] = true
		}
		h.kill()
	}
	h := startGraph(t, state, 100_000)
	all := string(h.call("kg/query", `{"limit":1000}`).result().Raw())
	for id := range answered {
		if !strings.Contains(all, `"subject":"`+id+`"`) {
			t.Errorf("%s was answered and is lost", id)
		}
	}
	total, _ := h.call("kg/stats", `{}`).result().Path("triples").Int64()
	if n := strings.Count(all, `"subject"`); int64(n) != total || n < len(answered) {
		t.Errorf("%d triples, %d counted, %d answered", n, total, len(answered))
	}
}

func TestEveryCodeOfTheKGIsEmitted(t *testing.T) {
	t.Parallel()
	h := startGraph(t, "", 1)
	h.call("kg/add", triple("a", "b", "c")).result()
	emits.Check(t, "kg/E_KG_FULL\nkg/E_KG_INVALID_TRIPLE", map[string]func(*testing.T) string{
		"kg/E_KG_FULL":           func(*testing.T) string { return h.call("kg/add", triple("d", "e", "f")).code() },
		"kg/E_KG_INVALID_TRIPLE": func(*testing.T) string { return h.call("kg/add", triple("a", "", "c")).code() },
	})
}

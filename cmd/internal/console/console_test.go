package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/ledger/proof"
)

func quoteJSON(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be marshalled
	}
	return string(data)
}

func TestListFiltersAndPages(t *testing.T) {
	s := open(t, console.Options{})
	for i := range 60 {
		s.add(failed{server: "shop", tool: "search", said: fmt.Sprintf("query %d failed", i)})
	}
	s.add(failed{server: "files", tool: "read", said: "the disk is full", code: candor.CodeInternalError})

	first := s.get("/")
	contains(t, first, `id="n-failures">61<`, "the disk is full", "query 59 failed", `id="older"`, ">NOT_FOUND<", "Record not verified")
	if n := strings.Count(first, `<tr id="f-`); n != 50 {
		t.Errorf("the first page has %d rows, want 50", n)
	}
	older := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(first)[1]
	second := s.get(strings.ReplaceAll(older, "&amp;", "&"))
	contains(t, second, "query 0 failed", `id="newer"`)
	if n := strings.Count(second, `<tr id="f-`); n != 11 {
		t.Errorf("the second page has %d rows, want 11", n)
	}

	filtered := s.get("/?server=files&q=DISK")
	contains(t, filtered, "the disk is full", `id="n-failures">1<`, `id="chips"`, `value="files"`)
	if strings.Contains(filtered, "query 5 failed") {
		t.Error("a failure of another server is listed")
	}
	contains(t, s.get("/?code=TIMEOUT"), "No failure matches the filter")
	if res, body := s.request("GET", "/?since=soon", "", nil); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, "not a time") {
		t.Errorf("a bad time: status %d", res.StatusCode)
	}
	if res, _ := s.request("GET", "/?at=zzz", "", nil); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad cursor: status %d", res.StatusCode)
	}
}

func TestChartAddsUp(t *testing.T) {
	s := open(t, console.Options{})
	for range 3 {
		s.add(failed{server: "shop", tool: "search", said: "no such order"})
	}
	s.add(failed{server: "shop", tool: "pay", said: "gone", code: candor.CodeTimeout})
	body := s.get("/")
	contains(t, body, "<b>not found</b> 3", "<b>timeout</b> 1", `aria-label="NOT_FOUND: 3 failures"`, `aria-label="pay: 1 failure"`)
	if n := strings.Count(body, `<rect class="c-not_found" x=`); n == 0 {
		t.Error("the chart over time has no column of class not_found")
	}
}

func TestFailureShowsBothSidesAndProof(t *testing.T) {
	s := open(t, console.Options{})
	at := s.add(failed{server: "shop", tool: "get_invoice", said: "Invoice 7 does not exist", session: "sess-1"})
	s.add(failed{server: "shop", tool: "get_invoice", said: "Invoice 8 does not exist"})
	if err := s.ledger.Close(); err != nil { // signs a checkpoint
		t.Fatal(err)
	}
	path := fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq)
	body := s.get(path)
	contains(t, body, `<h1 id="code">NOT_FOUND`, "Invoice 7 does not exist", "What the server said", "What the client got",
		`<mark title="only the client&#39;s answer has this line">`, "a signed checkpoint over", "candor explain candor/NOT_FOUND", "List the existing objects",
		"Invoice 8 does not exist", `href="/session/sess-1"`, "12 ms", `href="/tool/shop/get_invoice"`)
	if strings.Contains(body, "only the server&#39;s answer has this line") {
		t.Error("a line of the server is marked that the client got too")
	}
	made, err := proof.Parse([]byte(s.get(path + "/proof.json")))
	if err != nil || made.Seq != at.Seq {
		t.Errorf("the proof: %v", err)
	}
	ref := regexp.MustCompile(`id="ref">([^<]+)<`).FindStringSubmatch(body)[1]
	if res, _ := s.request("GET", "/ref/"+ref, "", nil); res.Header.Get("Location") != path {
		t.Errorf("/ref/%s leads to %q, want %q", ref, res.Header.Get("Location"), path)
	}
	contains(t, s.get("/ref/ref"), "<h1>2 failures</h1>")
}

func TestFailureShowsWhatTheModelRead(t *testing.T) {
	s := open(t, console.Options{})
	at := s.add(failed{server: "shop", tool: "pay", said: "no <b>such</b> order", client: "gemini-cli"})
	body := s.get(fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq))
	contains(t, body, `What the model read <small class="quiet">of Gemini CLI</small>`, "<h3>Gemini CLI</h3>", "without Candor, 20 bytes", "no &lt;b&gt;such&lt;/b&gt; order")
	own, others := strings.Index(body, "<h3>Gemini CLI</h3>"), strings.Index(body, `<details id="read-others">`)
	if rest := strings.Index(body, "<h3>Claude Code, "); own > others || others > rest {
		t.Errorf("the client that made the call is at %d, the fold at %d, the others at %d", own, others, rest)
	}
	at = s.add(failed{server: "shop", tool: "pay", said: "no such order"})
	contains(t, s.get(fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq)), "What the model read </h2>\n  <h3>Claude Code, ", "any other client</h3>")
}

func TestSuspectedFailureWasPassedUnchanged(t *testing.T) {
	s := open(t, console.Options{})
	at := s.add(failed{server: "shop", tool: "get_invoice", said: `{"success":false}`, suspected: true})
	contains(t, s.get(fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq)), "The same bytes: nothing was changed.", ">suspected<", "make a rule for the tool")
}

func TestSentAsSuccessesCountsMaskedAndSuspectedFailures(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "no such order"})
	s.add(failed{server: "shop", tool: "search", said: `{"success":false}`, masked: true})
	s.add(failed{server: "shop", tool: "search", said: `{"ok":false}`, suspected: true})
	for _, path := range []string{"/", "/tool/shop/search"} {
		contains(t, s.get(path), `<dt>sent as successes</dt><dd id="n-masked">2<`)
	}
	contains(t, s.get("/api/v1/summary"), `"suspected":1,"masked":2`)
}

func TestWhatToDoPrefersTheSuggestionOfTheError(t *testing.T) {
	s := open(t, console.Options{})
	for suggestion, want := range map[string]string{"": candor.CodeCallTimeout.Info().Action, "The call had no effect: make it again.": "The call had no effect: make it again."} {
		at := s.add(failed{server: "shop", tool: "pay", said: "late", code: candor.CodeCallTimeout, suggestion: suggestion})
		body := s.get(fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq))
		steps := body[strings.Index(body, `id="what-to-do"`):]
		steps = steps[:strings.Index(steps, "</ol>")]
		if strings.Count(steps, "<li>") != 2 || !strings.Contains(steps, "<li>"+want+"</li>") {
			t.Errorf("with the suggestion %q the steps are %s", suggestion, steps)
		}
	}
}

func TestUnknownPagesAndFailures(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "a", said: "x"})
	for _, path := range []string{"/nothing", "/failure/none/1", "/failure/none/0", "/failure/none/x", "/ref/zzz", "/failure/..%2f..%2fetc/1", "/failure/none/1/proof.json", "/assets/..%2fconsole.go", "/assets/console.css"} {
		if res, body := s.request("GET", path, "", nil); res.StatusCode != http.StatusNotFound || strings.Contains(body, "package console") {
			t.Errorf("GET %s: status %d, want 404", path, res.StatusCode)
		}
	}
}

func TestLargeMessageIsBounded(t *testing.T) {
	s := open(t, console.Options{})
	at := s.add(failed{server: "shop", tool: "dump", said: strings.Repeat("x", 1<<20)})
	for path, most := range map[string]int{"/": 30_000, fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq): 400_000} {
		if body := s.get(path); len(body) > most {
			t.Errorf("%s has %d bytes, want at most %d", path, len(body), most)
		}
	}
}

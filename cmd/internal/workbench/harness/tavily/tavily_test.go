package tavily_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/testing/domaintest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/tavily"
	"github.com/candor-mcp/candor/codes/common"
	tavilycode "github.com/candor-mcp/candor/codes/tavily"
)

const token = "the-token-of-the-test-4711"

// fakeTavily answers one search. It echoes the token.
func fakeTavily(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if r.Method != http.MethodPost || r.URL.Path != "/search" || r.Header.Get("Authorization") != "Bearer "+token || json.NewDecoder(r.Body).Decode(&in) != nil ||
		in["query"] != "who is Leo Messi?" || in["search_depth"] != "advanced" || in["max_results"] != 2.0 || in["include_answer"] != true || len(in) != 4 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"query":"who is Leo Messi?","answer":"A footballer.","follow_up_questions":null,"images":[],"results":[
		{"title":"Lionel Messi","url":"https://www.britannica.com/messi","content":"Born 1987. `+token+`","score":0.81025416,"raw_content":null}],
		"response_time":"1.67","request_id":"123e4567"}`)
}

func TestSearches(t *testing.T) {
	t.Parallel()
	fake := httptest.NewServer(http.HandlerFunc(fakeTavily))
	t.Cleanup(fake.Close)
	call := domaintest.Open(t, tavily.Open, map[string]string{"MCP_TAVILY_BASE_URL": fake.URL, "TAVILY_API_KEY": token})
	const want = `{"answer":"A footballer.","results":[{"title":"Lionel Messi","url":"https://www.britannica.com/messi","content":"Born 1987. [redacted]","score":0.81025416}]}`
	if got, e := call("tavily/search", `{"query":"who is Leo Messi?","depth":"advanced","maxResults":2,"includeAnswer":true}`); got != want {
		t.Errorf("%s %v", got, e)
	}
	for query, want := range map[string]candor.Code{" ": tavilycode.InvalidParams, strings.Repeat("x", 401): common.InputTooLarge} {
		if got, e := call("tavily/search", `{"query":"`+query+`"}`); e == nil || e.Code() != want {
			t.Errorf("%s %v, want %v", got, e, want)
		}
	}
}

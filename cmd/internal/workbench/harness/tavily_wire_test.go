package harness_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

var tavilyService = service{"tavily", "MCP_TAVILY_BASE_URL", "TAVILY_API_KEY"}

const tavilyCodes = `
tavily/E_TAVILY_HTTP
tavily/E_TAVILY_RATE
tavily/E_TAVILY_AUTH_MISSING
tavily/E_TAVILY_AUTH_FAILED
tavily/E_TAVILY_NETWORK
tavily/E_TAVILY_INVALID_PARAMS
tavily/E_TAVILY_PARSE
`

func TestEveryCodeOfTavilyIsEmitted(t *testing.T) {
	t.Parallel()
	emit := tavilyService.emitsOf(t, "tavily/search", `{"query":"x"}`, map[string]http.HandlerFunc{
		"tavily/E_TAVILY_HTTP":           says(500, `{"detail":{"error":"Internal server error"}}`),
		"tavily/E_TAVILY_RATE":           says(429, `{"detail":{"error":"Your request has been blocked due to excessive requests."}}`),
		"tavily/E_TAVILY_AUTH_FAILED":    says(401, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`),
		"tavily/E_TAVILY_NETWORK":        hangUp,
		"tavily/E_TAVILY_PARSE":          says(200, `{"results":`),
		"tavily/E_TAVILY_INVALID_PARAMS": says(400, `{"detail":{"error":"Invalid topic. Must be 'general' or 'news'."}}`),
	})
	emit["tavily/E_TAVILY_AUTH_MISSING"] = func(t *testing.T) string {
		return start(t, setup{env: []string{"TAVILY_API_KEY="}, flags: []string{"--domain", "tavily"}}).call("tavily/search", `{"query":"x"}`).code()
	}
	emits.Check(t, tavilyCodes, emit)
}

func TestTavilySearchesAndExtracts(t *testing.T) {
	t.Parallel()
	h := tavilyService.start(t, func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+serviceToken || json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/search":
			if in["query"] != "who is Leo Messi?" || in["search_depth"] != "advanced" || in["max_results"] != 2.0 || in["include_answer"] != true || len(in) != 4 {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			_, _ = io.WriteString(w, `{"query":"who is Leo Messi?","answer":"A footballer.","follow_up_questions":null,"images":[],"results":[
				{"title":"Lionel Messi","url":"https://www.britannica.com/messi","content":"Born 1987. `+serviceToken+`","score":0.81025416,"raw_content":null}],
				"response_time":"1.67","request_id":"123e4567"}`)
		case "/extract":
			_, _ = io.WriteString(w, `{"results":[{"url":"https://a.example/","raw_content":"# A","images":[]}],
				"failed_results":[{"url":"https://b.example/","error":"Failed to fetch"}],"response_time":0.02,"request_id":"1"}`)
		}
	})
	result := h.call("tavily/search", `{"query":"who is Leo Messi?","depth":"advanced","maxResults":2,"includeAnswer":true}`).result()
	if text := string(result.Raw()); text != `{"answer":"A footballer.","results":[{"title":"Lionel Messi","url":"https://www.britannica.com/messi","content":"Born 1987. [redacted]","score":0.81025416}]}` {
		t.Error(text)
	}
	result = h.call("tavily/extract", `{"urls":["https://a.example/","https://b.example/"]}`).result()
	if text := string(result.Raw()); text != `{"pages":[{"url":"https://a.example/","content":"# A"}],"failed":[{"url":"https://b.example/","error":"Failed to fetch"}]}` {
		t.Error(text)
	}
	h.call("tavily/search", `{"query":" "}`).fails(2805, "tavily/E_TAVILY_INVALID_PARAMS")
	h.call("tavily/search", `{"query":"`+strings.Repeat("x", 401)+`"}`).fails(1005, "common/E_INPUT_TOO_LARGE")
	h.call("tavily/extract", `{"urls":["file:///etc/passwd"]}`).fails(2805, "tavily/E_TAVILY_INVALID_PARAMS")
	h.call("tavily/extract", `{"urls":[]}`).fails(2805, "tavily/E_TAVILY_INVALID_PARAMS")
}

func TestTavilyFailuresAreMapped(t *testing.T) {
	t.Parallel()
	refusals := redirects(2800, "tavily/E_TAVILY_HTTP")
	for name, r := range map[string]refusal{
		"plan":      {says(432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`), 2801, "tavily/E_TAVILY_RATE", -1, "usage limit"},
		"budget":    {says(433, `{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}`), 2801, "tavily/E_TAVILY_RATE", -1, "limit"},
		"rate":      {says(429, `{}`, "Retry-After: 17"), 2801, "tavily/E_TAVILY_RATE", 17_000, "429"},
		"no delay":  {says(429, `{}`), 2801, "tavily/E_TAVILY_RATE", 1_000, "429"},
		"forbidden": {says(403, `{"detail":{"error":"no `+serviceToken+`"}}`), 2803, "tavily/E_TAVILY_AUTH_FAILED", -1, "no [redacted]"},
		"issues":    {says(422, `{"detail":[{"loc":["body","query"],"msg":"field required","type":"missing"}]}`), 2805, "tavily/E_TAVILY_INVALID_PARAMS", -1, "field required"},
		"not found": {says(404, `<html>`), 2800, "tavily/E_TAVILY_HTTP", -1, "404"},
		"busy":      {says(503, ``), 2800, "tavily/E_TAVILY_HTTP", 1_000, "503"},
		"html":      {says(200, `<html>`, "Content-Type: text/html; charset=utf-8"), 2806, "tavily/E_TAVILY_PARSE", 1_000, "HTML"},
		"no list":   {says(200, `{}`), 2806, "tavily/E_TAVILY_PARSE", 1_000, "no results"},
		"null":      {says(200, `null`), 2806, "tavily/E_TAVILY_PARSE", 1_000, "no results"},
		"deep":      {says(200, strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000)), 2806, "tavily/E_TAVILY_PARSE", 1_000, "nested"},
		"large":     {says(200, strings.Repeat(" ", 5<<20)), 2806, "tavily/E_TAVILY_PARSE", 1_000, "larger"},
		"endless":   {trickle, 1001, "common/E_TIMEOUT", 1_000, "1500 ms"},
		"silent":    {stay, 2804, "tavily/E_TAVILY_NETWORK", 1_000, "1500 ms"},
	} {
		refusals[name] = r
	}
	tavilyService.check(t, "tavily/search", `{"query":"x"}`, refusals)
	tavilyService.check(t, "tavily/extract", `{"urls":["https://a.example"]}`, map[string]refusal{
		"all failed": {says(200, `{"results":[],"failed_results":[{"url":"https://a.example","error":"Failed to fetch"}]}`), 2800, "tavily/E_TAVILY_HTTP", -1, "Failed to fetch"},
	})
}

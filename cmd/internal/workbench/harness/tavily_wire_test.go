package harness_test

import "testing"

var tavilyService = service{"tavily", "MCP_TAVILY_BASE_URL", "TAVILY_API_KEY"}

func TestEveryCodeOfTavilyIsEmitted(t *testing.T) {
	t.Parallel()
	tavilyService.check(t, "tavily/search", `{"query":"x"}`, map[string]refusal{
		"plan":         {says(432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`), 2801, "tavily/E_TAVILY_RATE", -1, "usage limit"},
		"budget":       {says(433, `{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}`), 2801, "tavily/E_TAVILY_RATE", -1, "limit"},
		"forbidden":    {says(403, `{"detail":{"error":"no `+serviceToken+`"}}`), 2803, "tavily/E_TAVILY_AUTH_FAILED", -1, "no [redacted]"},
		"issues":       {says(422, `{"detail":[{"loc":["body","query"],"msg":"field required","type":"missing"}]}`), 2805, "tavily/E_TAVILY_INVALID_PARAMS", -1, "field required"},
		"no list":      {says(200, `{}`), 2806, "tavily/E_TAVILY_PARSE", 1_000, "no results"},
		"endless":      {trickle, 1001, "common/E_TIMEOUT", 1_000, "1500 ms"},
		"redirect":     {says(302, "", "Location: http://169.254.169.254/"), 2800, "tavily/E_TAVILY_HTTP", -1, "another address"},
		"server error": {says(500, `{"detail":{"error":"Internal server error"}}`), 2800, "tavily/E_TAVILY_HTTP", 1_000, "500"},
		"rate":         {says(429, `{"detail":{"error":"blocked due to excessive requests"}}`, "Retry-After: 17"), 2801, "tavily/E_TAVILY_RATE", 17_000, "429"},
		"hang-up":      {hangUp, 2804, "tavily/E_TAVILY_NETWORK", 1_000, "broke"},
		"cut":          {says(200, `{"results":`), 2806, "tavily/E_TAVILY_PARSE", 1_000, "JSON"},
	})
	t.Run("tavily/E_TAVILY_AUTH_MISSING", func(t *testing.T) {
		h := start(t, setup{env: []string{"TAVILY_API_KEY="}, flags: []string{"--domain", "tavily"}})
		h.call("tavily/search", `{"query":"x"}`).fails(2802, "tavily/E_TAVILY_AUTH_MISSING")
	})
}

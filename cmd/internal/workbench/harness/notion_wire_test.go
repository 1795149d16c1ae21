package harness_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

var notionService = service{"notion", "MCP_NOTION_BASE_URL", "NOTION_TOKEN"}

const notionCodes = `
notion/E_NOTION_AUTH
notion/E_NOTION_RATE
notion/E_NOTION_NOT_FOUND
notion/E_NOTION_NETWORK
notion/E_NOTION_HTTP
notion/E_NOTION_PARSE
`

const notionID = "59833787-2cf9-4fdf-8782-e53db20768a5"

// notionError returns an error in Notion's format.
func notionError(status int, code, message string, headers ...string) http.HandlerFunc {
	text := fmt.Sprintf(`{"object":"error","status":%d,"code":%q,"message":%q,"request_id":"b0a7d6c2-4b56-4b8b-a0e1-4ab1a2d3e4f5"}`, status, code, message)
	return says(status, text, headers...)
}

func TestEveryCodeOfNotionIsEmitted(t *testing.T) {
	t.Parallel()
	emits.Check(t, notionCodes, notionService.emitsOf(t, "notion/page", `{"id":"`+notionID+`"}`, map[string]http.HandlerFunc{
		"notion/E_NOTION_AUTH":      notionError(401, "unauthorized", "API token is invalid."),
		"notion/E_NOTION_RATE":      notionError(429, "rate_limited", "You have been rate limited.", "Retry-After: 3"),
		"notion/E_NOTION_NOT_FOUND": notionError(404, "object_not_found", "Could not find page."),
		"notion/E_NOTION_NETWORK":   hangUp,
		"notion/E_NOTION_HTTP":      notionError(500, "internal_server_error", "Unexpected error occurred."),
		"notion/E_NOTION_PARSE":     says(200, `{"object":"page"`),
	}))
}

// fakeNotion has one database with two rows, one page, and a search with two pages of results.
func fakeNotion(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&in) != nil {
		notionError(400, "invalid_json", "Error parsing JSON body.")(w, r)
		return
	}
	if r.Header.Get("Notion-Version") != "2025-09-03" || r.Header.Get("Authorization") != "Bearer "+serviceToken {
		notionError(400, "missing_version", "Notion-Version header failed validation.")(w, r)
		return
	}
	row := func(id, title string) string {
		return fmt.Sprintf(`{"object":"page","id":%q,"url":"https://www.notion.so/x","last_edited_time":"2026-01-02T03:04:00.000Z",
			"properties":{"Name":{"id":"title","type":"title","title":[{"plain_text":%q},{"plain_text":"!"}]}}}`, id, title)
	}
	list := func(next string, entries ...string) {
		cursor, _ := json.Marshal(next)
		if next == "" {
			cursor = []byte("null")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"object":"list","results":[%s],"next_cursor":%s,"has_more":%t}`, strings.Join(entries, ","), cursor, next != "")
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/search":
		if in["start_cursor"] == "second" {
			list("", `{"object":"data_source","id":"`+notionID+`","title":[{"plain_text":"Tasks"}],"properties":{}}`)
			return
		}
		list("second", row(notionID, "First"))
	case "GET /v1/pages/" + notionID:
		_, _ = io.WriteString(w, row(notionID, "First"))
	case "GET /v1/blocks/" + notionID + "/children":
		list("", `{"object":"block","type":"paragraph","paragraph":{"rich_text":[{"plain_text":"Hello "},{"plain_text":"there"}]}}`, `{"object":"block","type":"divider","divider":{}}`)
	case "GET /v1/databases/" + notionID:
		_, _ = io.WriteString(w, `{"object":"database","id":"`+notionID+`","data_sources":[{"id":"`+strings.Repeat("a", 32)+`","name":"Tasks"}]}`)
	case "GET /v1/databases/" + strings.Repeat("b", 32):
		_, _ = io.WriteString(w, `{"object":"database","id":"x","data_sources":[{"id":"`+strings.Repeat("a", 32)+`","name":"Tasks"},{"id":"`+strings.Repeat("c", 32)+`","name":"More"}]}`)
	case "POST /v1/data_sources/" + strings.Repeat("a", 32) + "/query":
		if in["filter"] == nil {
			notionError(400, "validation_error", "body failed validation")(w, r)
			return
		}
		list("", row(notionID, "One"))
	default:
		notionError(404, "object_not_found", "Could not find it.")(w, r)
	}
}

func TestNotionSearchesAndReads(t *testing.T) {
	t.Parallel()
	h := notionService.start(t, fakeNotion)
	first := h.call("notion/search", `{"query":"x","pageSize":1}`).result()
	if next, _ := first.Path("nextCursor").Str(); next != "second" || !strings.Contains(string(first.Raw()), `"title":"First!"`) {
		t.Errorf("%s", first.Raw())
	}
	second := h.call("notion/search", `{"query":"x","cursor":"second"}`).result()
	if text := string(second.Raw()); text != `{"results":[{"type":"data_source","id":"`+notionID+`","title":"Tasks"}]}` {
		t.Error(text)
	}
	page := h.call("notion/page", `{"id":"`+notionID+`"}`).result()
	if text := string(page.Raw()); !strings.Contains(text, `"text":["Hello there"]`) || !strings.Contains(text, `"title":"First!"`) {
		t.Error(text)
	}
	rows := h.call("notion/query", `{"databaseId":"`+notionID+`","filter":{"property":"Done","checkbox":{"equals":true}}}`).result()
	if text := string(rows.Raw()); !strings.Contains(text, `"title":"One!"`) || !strings.Contains(text, `"properties":{"Name"`) {
		t.Error(text)
	}
	h.call("notion/query", `{"dataSourceId":"`+strings.Repeat("a", 32)+`"}`).fails(1000, "common/E_INVALID_PARAMS")
	if r := h.call("notion/query", `{"databaseId":"`+strings.Repeat("b", 32)+`"}`).fails(1000, "common/E_INVALID_PARAMS"); !strings.Contains(r.details(), "2 data sources") {
		t.Errorf("%s", r.m.Bytes())
	}
	h.call("notion/query", `{}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("notion/page", `{"id":"../users"}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("notion/page", `{"id":"`+strings.Repeat("d", 32)+`"}`).fails(2702, "notion/E_NOTION_NOT_FOUND")
	h.call("notion/search", `{"query":"`+strings.Repeat("x", 201)+`"}`).fails(1005, "common/E_INPUT_TOO_LARGE")
}

func TestNotionFailuresAreMapped(t *testing.T) {
	t.Parallel()
	refusals := redirects(2704, "notion/E_NOTION_HTTP")
	for name, r := range map[string]refusal{
		"restricted": {notionError(403, "restricted_resource", "Given the bearer token used, the client doesn't have permission"), 2700, "notion/E_NOTION_AUTH", -1, "restricted_resource"},
		"echo":       {notionError(401, "unauthorized", "bad "+serviceToken), 2700, "notion/E_NOTION_AUTH", -1, "bad [redacted]"},
		"rate":       {notionError(429, "rate_limited", "slow down", "Retry-After: 3"), 2701, "notion/E_NOTION_RATE", 3_000, "rate_limited"},
		"conflict":   {notionError(409, "conflict_error", "Conflict occurred while saving."), 2704, "notion/E_NOTION_HTTP", 1_000, "conflict_error"},
		"overload":   {notionError(529, "service_overload", "Try again.", "Retry-After: 20"), 2704, "notion/E_NOTION_HTTP", 20_000, "service_overload"},
		"not a page": {says(200, `{"object":"user","id":"1"}`), 2705, "notion/E_NOTION_PARSE", 1_000, "no page"},
		"wrong type": {says(200, `{"object":1}`), 2705, "notion/E_NOTION_PARSE", 1_000, "another form"},
		"endless":    {trickle, 1001, "common/E_TIMEOUT", 1_000, ""},
	} {
		refusals[name] = r
	}
	notionService.check(t, "notion/page", `{"id":"`+notionID+`"}`, refusals)
	h := start(t, setup{env: []string{"NOTION_TOKEN="}, flags: []string{"--domain", "notion"}})
	if r := h.call("notion/search", `{"query":"x"}`).fails(2700, "notion/E_NOTION_AUTH"); !strings.Contains(r.details(), "NOTION_TOKEN") {
		t.Errorf("%s", r.m.Bytes())
	}
}

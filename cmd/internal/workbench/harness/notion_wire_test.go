package harness_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var notionService = service{"notion", "MCP_NOTION_BASE_URL", "NOTION_TOKEN"}

const notionID = "59833787-2cf9-4fdf-8782-e53db20768a5"

// notionError returns an error in Notion's format.
func notionError(status int, code, message string, headers ...string) http.HandlerFunc {
	text := fmt.Sprintf(`{"object":"error","status":%d,"code":%q,"message":%q,"request_id":"b0a7d6c2-4b56-4b8b-a0e1-4ab1a2d3e4f5"}`, status, code, message)
	return says(status, text, headers...)
}

func TestEveryCodeOfNotionIsEmitted(t *testing.T) {
	t.Parallel()
	notionService.check(t, "notion/page", `{"id":"`+notionID+`"}`, map[string]refusal{
		"echo":       {notionError(401, "unauthorized", "bad "+serviceToken), 2700, "notion/E_NOTION_AUTH", -1, "bad [redacted]"},
		"rate":       {notionError(429, "rate_limited", "slow down", "Retry-After: 3"), 2701, "notion/E_NOTION_RATE", 3_000, "rate_limited"},
		"conflict":   {notionError(409, "conflict_error", "Conflict occurred while saving."), 2704, "notion/E_NOTION_HTTP", 1_000, "conflict_error"},
		"overload":   {notionError(529, "service_overload", "Try again.", "Retry-After: 20"), 2704, "notion/E_NOTION_HTTP", 20_000, "service_overload"},
		"not a page": {says(200, `{"object":"user","id":"1"}`), 2705, "notion/E_NOTION_PARSE", 1_000, "no page"},
		"wrong type": {says(200, `{"object":1}`), 2705, "notion/E_NOTION_PARSE", 1_000, "another form"},
		"not found":  {notionError(404, "object_not_found", "Could not find page."), 2702, "notion/E_NOTION_NOT_FOUND", -1, "Could not find"},
		"hang-up":    {hangUp, 2703, "notion/E_NOTION_NETWORK", 1_000, "broke"},
	})
	h := start(t, setup{env: []string{"NOTION_TOKEN="}, flags: []string{"--domain", "notion"}})
	if r := h.call("notion/search", `{"query":"x"}`).fails(2700, "notion/E_NOTION_AUTH"); !strings.Contains(r.details(), "NOTION_TOKEN") {
		t.Errorf("%s", r.m.Bytes())
	}
}

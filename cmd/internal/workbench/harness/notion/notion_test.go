package notion_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/testing/domaintest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/notion"
	"github.com/candor-mcp/candor/codes/common"
	notioncode "github.com/candor-mcp/candor/codes/notion"
)

const (
	token  = "the-token-of-the-test-4711"
	pageID = "59833787-2cf9-4fdf-8782-e53db20768a5"
)

// fakeNotion has one database with two rows, one page, and a search with two pages of results.
func fakeNotion(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&in) != nil {
		http.Error(w, `{"code":"invalid_json"}`, http.StatusBadRequest)
		return
	}
	if r.Header.Get("Notion-Version") != "2025-09-03" || r.Header.Get("Authorization") != "Bearer "+token {
		http.Error(w, `{"code":"missing_version"}`, http.StatusBadRequest)
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
			list("", `{"object":"data_source","id":"`+pageID+`","title":[{"plain_text":"Tasks"}],"properties":{}}`)
			return
		}
		list("second", row(pageID, "First"))
	case "GET /v1/pages/" + pageID:
		_, _ = io.WriteString(w, row(pageID, "First"))
	case "GET /v1/blocks/" + pageID + "/children":
		list("", `{"object":"block","type":"paragraph","paragraph":{"rich_text":[{"plain_text":"Hello "},{"plain_text":"there"}]}}`, `{"object":"block","type":"divider","divider":{}}`)
	default:
		http.Error(w, `{"code":"object_not_found"}`, http.StatusNotFound)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	fake := httptest.NewServer(http.HandlerFunc(fakeNotion))
	t.Cleanup(fake.Close)
	call := domaintest.Open(t, notion.Open, map[string]string{"MCP_NOTION_BASE_URL": fake.URL, "NOTION_TOKEN": token})
	for in, want := range map[[2]string]string{
		{"notion/search", `{"query":"x","pageSize":1}`}:      `"nextCursor":"second"`,
		{"notion/search", `{"query":"x"}`}:                   `"title":"First!"`,
		{"notion/search", `{"query":"x","cursor":"second"}`}: `{"results":[{"type":"data_source","id":"` + pageID + `","title":"Tasks"}]}`,
		{"notion/page", `{"id":"` + pageID + `"}`}:           `"text":["Hello there"]`,
	} {
		if text, e := call(in[0], in[1]); e != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %v, want %s", in, text, e, want)
		}
	}
	for in, want := range map[[2]string]candor.Code{
		{"notion/page", `{"id":"../users"}`}:                              common.InvalidParams,
		{"notion/page", `{"id":"` + strings.Repeat("d", 32) + `"}`}:       notioncode.NotFound,
		{"notion/search", `{"query":"` + strings.Repeat("x", 201) + `"}`}: common.InputTooLarge,
	} {
		if text, e := call(in[0], in[1]); e == nil || e.Code() != want {
			t.Errorf("%s: %s, %v, want %v", in, text, e, want)
		}
	}
}

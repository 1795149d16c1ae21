// Package notion is the harness domain that searches Notion and reads pages.
package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	notioncode "github.com/candor-mcp/candor/codes/notion"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Name is the name of the domain.
const Name = "notion"

// apiVersion is the version of the API. Since this version a database has one or more data sources, which have the
// rows.
const apiVersion = "2025-09-03"

const maxQuery = 200 // characters

var service = httpapi.Service{
	Name: Name, About: "Search Notion and read its pages.",
	URL: "https://api.notion.com", URLName: "MCP_NOTION_BASE_URL", TokenName: "NOTION_TOKEN",
	TokenAdvice: "set NOTION_TOKEN to the token of an integration",
	Headers:     map[string]string{"Notion-Version": apiVersion},
	Codes: httpapi.Codes{
		NoToken: notioncode.Auth, Auth: notioncode.Auth, Rate: notioncode.Rate, NotFound: notioncode.NotFound, Invalid: common.InvalidParams,
		Network: notioncode.Network, Parse: notioncode.Parse, HTTP: notioncode.HTTP, RateDelay: time.Second,
	},
}

type notion struct{ httpapi.Service }

// Open returns the domain for NOTION_TOKEN, MCP_NOTION_BASE_URL and MCP_HTTP_TIMEOUT_MS.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv}
	n := &notion{service}
	n.Configure(&v)
	const paging = `"cursor": {"type": "string", "description": "nextCursor of the previous call."},
		"pageSize": {"type": "integer", "minimum": 1, "maximum": 100}`
	return n.Domain(
		domain.Method{
			Name: "notion/search", About: "Find pages and data sources by title.",
			Input:    `{"query": {"type": "string"}, "type": {"enum": ["page", "data_source"]}, ` + paging + `}`,
			Required: []string{"query"}, Codes: []candor.Code{common.InputTooLarge}, Run: domain.Bind(n.search),
		},
		domain.Method{
			Name: "notion/page", About: "Return the properties and the text of a page.",
			Input:    `{"id": {"type": "string"}, ` + paging + `}`,
			Required: []string{"id"}, Run: domain.Bind(n.page),
		},
	), v.Err
}

// do sends a request of the domain and decodes its answer.
func (n *notion) do(ctx context.Context, r httpapi.Request, answer any) error {
	r.Path = append([]string{"v1"}, r.Path...)
	_, err := n.Call(ctx, r, answer)
	return err
}

var uuid = lazyregexp.New(`^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$`)

func (n *notion) checkID(name, id string) error {
	if !uuid.MatchString(id) {
		return n.Invalid("%s is not an id of Notion, which has 32 hexadecimal digits", name)
	}
	return nil
}

// paging holds the paging parameters of lists.
type paging struct {
	Cursor   string `json:"cursor"`
	PageSize int    `json:"pageSize"`
}

// list is a list in Notion's format.
type list struct {
	Results    []json.RawMessage `json:"results"`
	HasMore    bool              `json:"has_more"`
	NextCursor string            `json:"next_cursor"`
}

// next returns the cursor of the next call, "" at the end.
func (l *list) next() string {
	if l.HasMore {
		return l.NextCursor
	}
	return ""
}

// object is the common part of pages, databases and data sources.
type object struct {
	Object     string                     `json:"object"`
	ID         string                     `json:"id"`
	URL        string                     `json:"url"`
	LastEdited string                     `json:"last_edited_time"`
	Title      []richText                 `json:"title"` // of databases and data sources
	Properties map[string]json.RawMessage `json:"properties"`
}

type richText struct {
	PlainText string `json:"plain_text"`
}

func plain(texts []richText) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(t.PlainText)
	}
	return b.String()
}

// name returns the title. The title of a page is one of its properties.
func (o *object) name() string {
	if len(o.Title) > 0 {
		return plain(o.Title)
	}
	for _, raw := range o.Properties {
		var property struct {
			Type  string     `json:"type"`
			Title []richText `json:"title"`
		}
		if json.Unmarshal(raw, &property) == nil && property.Type == "title" {
			return plain(property.Title)
		}
	}
	return ""
}

// entry is one object of a result.
type entry struct {
	Type       string                     `json:"type"`
	ID         string                     `json:"id"`
	Title      string                     `json:"title"`
	URL        string                     `json:"url,omitempty"`
	LastEdited string                     `json:"lastEdited,omitempty"`
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
}

type listResult struct {
	Results    []entry `json:"results"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

type searchParams struct {
	Query string `json:"query"`
	Type  string `json:"type"`
	paging
}

func (n *notion) search(ctx context.Context, in searchParams) (any, error) {
	if size := utf8.RuneCountInString(in.Query); size > maxQuery {
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("query has %d characters, the limit is %d", size, maxQuery), nil)
	}
	body := in.body()
	body["query"] = in.Query
	if in.Type != "" {
		body["filter"] = map[string]string{"property": "object", "value": in.Type}
	}
	var answer list
	if err := n.do(ctx, httpapi.Request{Path: []string{"search"}, Body: body}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, n.Malformed("results")
	}
	result := listResult{Results: []entry{}, NextCursor: answer.next()}
	for _, raw := range answer.Results {
		var o object
		if err := json.Unmarshal(raw, &o); err != nil || o.ID == "" {
			return nil, n.Malformed("readable entries")
		}
		result.Results = append(result.Results, entry{Type: o.Object, ID: o.ID, Title: o.name(), URL: o.URL, LastEdited: o.LastEdited})
	}
	return result, nil
}

func (p paging) body() map[string]any {
	body := map[string]any{}
	if p.Cursor != "" {
		body["start_cursor"] = p.Cursor
	}
	if p.PageSize > 0 {
		body["page_size"] = p.PageSize
	}
	return body
}

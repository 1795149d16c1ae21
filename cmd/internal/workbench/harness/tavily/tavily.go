// Package tavily is the harness domain that searches the web with the Tavily service.
package tavily

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	tavilycode "github.com/candor-mcp/candor/codes/tavily"
)

// Name is the name of the domain.
const Name = "tavily"

const maxQuery = 400 // characters; the limit of the service

var service = httpapi.Service{
	Name: Name, About: "Search the web through Tavily.",
	URL: "https://api.tavily.com", URLName: "MCP_TAVILY_BASE_URL", TokenName: "TAVILY_API_KEY", TokenAdvice: "set TAVILY_API_KEY",
	Codes: httpapi.Codes{
		NoToken: tavilycode.AuthMissing, Auth: tavilycode.AuthFailed, Rate: tavilycode.Rate, Invalid: tavilycode.InvalidParams,
		Network: tavilycode.Network, Parse: tavilycode.Parse, HTTP: tavilycode.HTTP, RateDelay: time.Second,
		Quota: []int{432, 433}, // limits of the plan, and of pay-as-you-go
	},
}

type tavily struct{ httpapi.Service }

// Open returns the domain for TAVILY_API_KEY, MCP_TAVILY_BASE_URL and MCP_HTTP_TIMEOUT_MS.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv}
	t := &tavily{service}
	t.Configure(&v)
	return t.Domain(
		domain.Method{
			Name: "tavily/search", About: "Search the web. Returns titles, addresses and extracts of pages, best first.",
			Input: `{
				"query": {"type": "string", "description": "What to search for, at most 400 characters."},
				"depth": {"enum": ["basic", "advanced"]},
				"maxResults": {"type": "integer", "minimum": 1, "maximum": 20},
				"includeAnswer": {"type": "boolean", "description": "Also return a short answer."}}`,
			Required: []string{"query"}, Codes: []candor.Code{common.InputTooLarge}, Run: domain.Bind(t.search),
		},
	), v.Err
}

type searchParams struct {
	Query         string `json:"query"`
	Depth         string `json:"depth"`
	MaxResults    int    `json:"maxResults"`
	IncludeAnswer bool   `json:"includeAnswer"`
}

// searchRequest is searchParams as the body of POST /search.
type searchRequest struct {
	Query         string `json:"query"`
	Depth         string `json:"search_depth,omitempty"`
	MaxResults    int    `json:"max_results,omitempty"`
	IncludeAnswer bool   `json:"include_answer,omitempty"`
}

type searchResult struct {
	Answer  string      `json:"answer,omitempty"`
	Results []searchHit `json:"results"`
}

type searchHit struct {
	Title     string  `json:"title"`
	URL       string  `json:"url"`
	Content   string  `json:"content"`
	Score     float64 `json:"score"`
	Published string  `json:"published,omitempty"`
}

func (t *tavily) search(ctx context.Context, in searchParams) (any, error) {
	if n := utf8.RuneCountInString(in.Query); n > maxQuery {
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("query has %d characters, the limit is %d", n, maxQuery), nil)
	}
	if strings.TrimSpace(in.Query) == "" {
		return nil, t.Invalid("query is empty")
	}
	var answer struct {
		Answer  string `json:"answer"`
		Results []struct {
			Title     string  `json:"title"`
			URL       string  `json:"url"`
			Content   string  `json:"content"`
			Score     float64 `json:"score"`
			Published string  `json:"published_date"`
		} `json:"results"`
	}
	if _, err := t.Call(ctx, httpapi.Request{Path: []string{"search"}, Body: searchRequest(in)}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, t.Malformed("results")
	}
	result := searchResult{Answer: answer.Answer, Results: []searchHit{}}
	for _, r := range answer.Results {
		result.Results = append(result.Results, searchHit(r))
	}
	return result, nil
}

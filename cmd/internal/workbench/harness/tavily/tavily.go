// Package tavily is the harness domain that searches the web and extracts pages with the Tavily service.
package tavily

import (
	"context"
	"fmt"
	"net/url"
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

const (
	maxQuery = 400 // characters; the limit of the service
	maxURLs  = 20
)

var service = httpapi.Service{
	Name: Name, About: "Search the web and read pages through Tavily.",
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
				"topic": {"enum": ["general", "news", "finance"]},
				"depth": {"enum": ["basic", "advanced"]},
				"maxResults": {"type": "integer", "minimum": 1, "maximum": 20},
				"timeRange": {"enum": ["day", "week", "month", "year"]},
				"includeAnswer": {"type": "boolean", "description": "Also return a short answer."},
				"includeDomains": {"type": "array", "items": {"type": "string"}, "maxItems": 50},
				"excludeDomains": {"type": "array", "items": {"type": "string"}, "maxItems": 50}}`,
			Required: []string{"query"}, Codes: []candor.Code{common.InputTooLarge}, Run: domain.Bind(t.search),
		},
		domain.Method{
			Name: "tavily/extract", About: "Return the text of web pages.",
			Input: `{
				"urls": {"type": "array", "items": {"type": "string"}, "description": "Up to 20 http or https addresses."},
				"depth": {"enum": ["basic", "advanced"]},
				"format": {"enum": ["markdown", "text"]}}`,
			Required: []string{"urls"}, Codes: []candor.Code{common.InputTooLarge}, Run: domain.Bind(t.extract),
		},
	), v.Err
}

type searchParams struct {
	Query          string   `json:"query"`
	Topic          string   `json:"topic"`
	Depth          string   `json:"depth"`
	MaxResults     int      `json:"maxResults"`
	TimeRange      string   `json:"timeRange"`
	IncludeAnswer  bool     `json:"includeAnswer"`
	IncludeDomains []string `json:"includeDomains"`
	ExcludeDomains []string `json:"excludeDomains"`
}

// searchRequest is searchParams as the body of POST /search.
type searchRequest struct {
	Query          string   `json:"query"`
	Topic          string   `json:"topic,omitempty"`
	Depth          string   `json:"search_depth,omitempty"`
	MaxResults     int      `json:"max_results,omitempty"`
	TimeRange      string   `json:"time_range,omitempty"`
	IncludeAnswer  bool     `json:"include_answer,omitempty"`
	IncludeDomains []string `json:"include_domains,omitempty"`
	ExcludeDomains []string `json:"exclude_domains,omitempty"`
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

type extractParams struct {
	URLs   []string `json:"urls"`
	Depth  string   `json:"depth"`
	Format string   `json:"format"`
}

// extractRequest is extractParams as the body of POST /extract.
type extractRequest struct {
	URLs   []string `json:"urls"`
	Depth  string   `json:"extract_depth,omitempty"`
	Format string   `json:"format,omitempty"`
}

type extractResult struct {
	Pages  []page       `json:"pages"`
	Failed []failedPage `json:"failed,omitempty"`
}

type page struct {
	URL     string `json:"url"`
	Content string `json:"content"`
}

type failedPage struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

func (t *tavily) extract(ctx context.Context, in extractParams) (any, error) {
	if len(in.URLs) == 0 {
		return nil, t.Invalid("urls is empty")
	}
	if len(in.URLs) > maxURLs {
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("urls has %d entries, the limit is %d", len(in.URLs), maxURLs), nil)
	}
	for i, text := range in.URLs {
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, t.Invalid("urls[%d] is not an http or https address", i)
		}
	}
	var answer struct {
		Results []struct {
			URL     string `json:"url"`
			Content string `json:"raw_content"`
		} `json:"results"`
		Failed []failedPage `json:"failed_results"`
	}
	if _, err := t.Call(ctx, httpapi.Request{Path: []string{"extract"}, Body: extractRequest(in)}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, t.Malformed("results")
	}
	if len(answer.Results) == 0 && len(answer.Failed) > 0 { // the service reports success, but the call has failed
		return nil, domain.Fail(tavilycode.HTTP, "no page could be extracted: "+answer.Failed[0].Error, nil,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Check the addresses, or extract other pages."))
	}
	result := extractResult{Pages: []page{}, Failed: answer.Failed}
	for _, r := range answer.Results {
		result.Pages = append(result.Pages, page(r))
	}
	return result, nil
}

// Package tavily is the harness domain that searches the web and extracts pages with the Tavily service.
package tavily

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	tavilycode "github.com/candor-mcp/candor/codes/tavily"
)

// Name is the name of the domain.
const Name = "tavily"

// Config configures the domain.
type Config = httpapi.Config

var service = httpapi.Service{Default: "https://api.tavily.com", BaseName: "MCP_TAVILY_BASE_URL", KeyName: "TAVILY_API_KEY"}

// ConfigFromEnv reads TAVILY_API_KEY, MCP_TAVILY_BASE_URL and MCP_HTTP_TIMEOUT_MS.
func ConfigFromEnv(getenv func(string) string) (Config, error) { return service.FromEnv(getenv) }

const (
	maxQuery = 400 // characters; the limit of the service
	maxURLs  = 20
)

var codes = httpapi.Codes{
	Auth: tavilycode.AuthFailed, Rate: tavilycode.Rate, Invalid: tavilycode.InvalidParams,
	Network: tavilycode.Network, Parse: tavilycode.Parse, HTTP: tavilycode.HTTP, RateDelay: time.Second,
}

type tavily struct{ client *httpapi.Client }

// New returns the domain. It opens no connection.
func New(c Config) (*domain.Domain, error) {
	if c.Base == "" {
		c.Base = service.Default
	}
	client, err := httpapi.New(c, nil)
	if err != nil {
		return nil, fmt.Errorf("tavily: %w", err)
	}
	t := &tavily{client}
	failures := []candor.Code{
		tavilycode.HTTP, tavilycode.Rate, tavilycode.AuthMissing, tavilycode.AuthFailed, tavilycode.Network,
		tavilycode.InvalidParams, tavilycode.Parse, common.Timeout, common.InputTooLarge,
	}
	return &domain.Domain{
		Name:  Name,
		About: "Search the web and read pages through Tavily.",
		Methods: []domain.Method{
			{
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
				Required: []string{"query"}, Codes: failures, ReadOnly: true, Idempotent: true, OpenWorld: true, Run: domain.Bind(t.search),
			},
			{
				Name: "tavily/extract", About: "Return the text of web pages.",
				Input: `{
					"urls": {"type": "array", "items": {"type": "string"}, "description": "Up to 20 http or https addresses."},
					"depth": {"enum": ["basic", "advanced"]},
					"format": {"enum": ["markdown", "text"]}}`,
				Required: []string{"urls"}, Codes: failures, ReadOnly: true, Idempotent: true, OpenWorld: true, Run: domain.Bind(t.extract),
			},
		},
		Health: t.health,
		Close: func() error {
			client.Close()
			return nil
		},
	}, nil
}

const keyAdvice = "set TAVILY_API_KEY"

func (t *tavily) health(context.Context) domain.Health {
	if !t.client.HasToken() {
		return domain.Health{Details: "no key: " + keyAdvice}
	}
	return domain.Health{OK: true}
}

// post sends a request of the domain and decodes its answer.
func (t *tavily) post(ctx context.Context, path string, body, answer any) error {
	if !t.client.HasToken() {
		return domain.Fail(tavilycode.AuthMissing, keyAdvice, nil)
	}
	_, err := t.client.Do(ctx, httpapi.Request{Path: []string{path}, Body: body}, answer)
	return fail(err)
}

// Statuses of Tavily for an exhausted plan or budget. Waiting for some seconds does not help.
const (
	statusPlanLimit   = 432
	statusBudgetLimit = 433
)

func fail(err error) error {
	var e *httpapi.Error
	if errors.As(err, &e) && (e.Status == statusPlanLimit || e.Status == statusBudgetLimit) {
		return domain.Fail(tavilycode.Rate, e.Reason, nil,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to raise the usage limit of the Tavily account."))
	}
	if err == nil {
		return nil
	}
	return codes.Fail(err)
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

// searchRequest is the body of POST /search.
type searchRequest struct {
	Query          string   `json:"query"`
	Topic          string   `json:"topic,omitempty"`
	SearchDepth    string   `json:"search_depth,omitempty"`
	MaxResults     int      `json:"max_results,omitempty"`
	TimeRange      string   `json:"time_range,omitempty"`
	IncludeAnswer  bool     `json:"include_answer,omitempty"`
	IncludeDomains []string `json:"include_domains,omitempty"`
	ExcludeDomains []string `json:"exclude_domains,omitempty"`
}

// searchAnswer is the answer to POST /search.
type searchAnswer struct {
	Answer  *string `json:"answer"`
	Results *[]struct {
		Title         string  `json:"title"`
		URL           string  `json:"url"`
		Content       string  `json:"content"`
		Score         float64 `json:"score"`
		PublishedDate string  `json:"published_date"`
	} `json:"results"`
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

func (t *tavily) search(ctx context.Context, in searchParams) (json.RawMessage, error) {
	if n := len([]rune(in.Query)); n > maxQuery {
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("query has %d characters, the limit is %d", n, maxQuery), nil)
	}
	if strings.TrimSpace(in.Query) == "" {
		return nil, domain.Fail(tavilycode.InvalidParams, "query is empty", nil)
	}
	var answer searchAnswer
	err := t.post(ctx, "search", searchRequest{
		Query: in.Query, Topic: in.Topic, SearchDepth: in.Depth, MaxResults: in.MaxResults, TimeRange: in.TimeRange,
		IncludeAnswer: in.IncludeAnswer, IncludeDomains: in.IncludeDomains, ExcludeDomains: in.ExcludeDomains,
	}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, domain.Fail(tavilycode.Parse, "the answer has no results", nil)
	}
	result := searchResult{Results: []searchHit{}}
	if answer.Answer != nil {
		result.Answer = *answer.Answer
	}
	for _, r := range *answer.Results {
		result.Results = append(result.Results, searchHit{r.Title, r.URL, r.Content, r.Score, r.PublishedDate})
	}
	return t.client.Clean(result)
}

type extractParams struct {
	URLs   []string `json:"urls"`
	Depth  string   `json:"depth"`
	Format string   `json:"format"`
}

// extractRequest is the body of POST /extract.
type extractRequest struct {
	URLs         []string `json:"urls"`
	ExtractDepth string   `json:"extract_depth,omitempty"`
	Format       string   `json:"format,omitempty"`
}

// extractAnswer is the answer to POST /extract.
type extractAnswer struct {
	Results *[]struct {
		URL        string `json:"url"`
		RawContent string `json:"raw_content"`
	} `json:"results"`
	FailedResults []failedPage `json:"failed_results"`
}

type failedPage struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

type extractResult struct {
	Pages  []page       `json:"pages"`
	Failed []failedPage `json:"failed,omitempty"`
}

type page struct {
	URL     string `json:"url"`
	Content string `json:"content"`
}

func (t *tavily) extract(ctx context.Context, in extractParams) (json.RawMessage, error) {
	if len(in.URLs) == 0 {
		return nil, domain.Fail(tavilycode.InvalidParams, "urls is empty", nil)
	}
	if len(in.URLs) > maxURLs {
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("urls has %d entries, the limit is %d", len(in.URLs), maxURLs), nil)
	}
	for i, text := range in.URLs {
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, domain.Fail(tavilycode.InvalidParams, fmt.Sprintf("urls[%d] is not an http or https address", i), nil)
		}
	}
	var answer extractAnswer
	if err := t.post(ctx, "extract", extractRequest{URLs: in.URLs, ExtractDepth: in.Depth, Format: in.Format}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, domain.Fail(tavilycode.Parse, "the answer has no results", nil)
	}
	if len(*answer.Results) == 0 && len(answer.FailedResults) > 0 { // the service reports success, but the call has failed
		return nil, domain.Fail(tavilycode.HTTP, "no page could be extracted: "+answer.FailedResults[0].Error, nil,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Check the addresses, or extract other pages."))
	}
	result := extractResult{Pages: []page{}, Failed: answer.FailedResults}
	for _, r := range *answer.Results {
		result.Pages = append(result.Pages, page{r.URL, r.RawContent})
	}
	return t.client.Clean(result)
}

// Package github is the harness domain that reads repositories, issues and files from GitHub.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	githubcode "github.com/candor-mcp/candor/codes/github"
)

// Name is the name of the domain.
const Name = "github"

// Config configures the domain.
type Config struct {
	httpapi.Config
	Anonymous bool // without a token, read public data
}

var service = httpapi.Service{Default: "https://api.github.com", BaseName: "MCP_GITHUB_BASE_URL", KeyName: "GITHUB_TOKEN"}

// ConfigFromEnv reads GITHUB_TOKEN, MCP_GITHUB_BASE_URL, MCP_GITHUB_ANONYMOUS and MCP_HTTP_TIMEOUT_MS.
func ConfigFromEnv(getenv func(string) string) (c Config, err error) {
	if c.Config, err = service.FromEnv(getenv); err != nil {
		return Config{}, err
	}
	switch text := getenv("MCP_GITHUB_ANONYMOUS"); text {
	case "", "0":
	case "1":
		c.Anonymous = true
	default:
		return Config{}, fmt.Errorf("MCP_GITHUB_ANONYMOUS=%q: want 0 or 1", text)
	}
	return c, nil
}

const maxQuery = 256 // characters; the limit of the service

var codes = httpapi.Codes{
	Auth: githubcode.AuthFailed, Rate: githubcode.RateLimit, NotFound: githubcode.NotFound, Invalid: common.InvalidParams,
	Network: githubcode.Network, Parse: githubcode.Parse, HTTP: githubcode.HTTP, RateDelay: time.Minute,
}

type github struct {
	client    *httpapi.Client
	anonymous bool
}

// New returns the domain. It opens no connection.
func New(c Config) (*domain.Domain, error) {
	if c.Base == "" {
		c.Base = service.Default
	}
	client, err := httpapi.New(c.Config, map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"})
	if err != nil {
		return nil, fmt.Errorf("github: %w", err)
	}
	g := &github{client, c.Anonymous}
	return &domain.Domain{
		Name:    Name,
		About:   "Read repositories, issues and files from GitHub, and search it.",
		Methods: g.methods(),
		Health:  g.health,
		Close: func() error {
			client.Close()
			return nil
		},
	}, nil
}

func (g *github) methods() []domain.Method {
	failures := []candor.Code{
		githubcode.AuthMissing, githubcode.AuthFailed, githubcode.Network, githubcode.HTTP, githubcode.RateLimit,
		githubcode.NotFound, githubcode.Parse, common.Timeout,
	}
	const (
		repository = `"owner": {"type": "string"}, "repo": {"type": "string"}`
		pages      = `"page": {"type": "integer", "minimum": 1, "maximum": 1000}, "perPage": {"type": "integer", "minimum": 1, "maximum": 100}`
	)
	inRepo := []string{"owner", "repo"}
	methods := []domain.Method{
		{Name: "github/repo", About: "Describe a repository.", Input: `{` + repository + `}`, Required: inRepo, Run: domain.Bind(g.repo)},
		{
			Name: "github/issues", About: "List issues and pull requests of a repository, newest first.",
			Input: `{` + repository + `, "state": {"enum": ["open", "closed", "all"]},
				"labels": {"type": "array", "items": {"type": "string"}, "maxItems": 20}, ` + pages + `}`,
			Required: inRepo, Run: domain.Bind(g.issues),
		},
		{
			Name: "github/issue", About: "Return an issue or pull request with its text.",
			Input:    `{` + repository + `, "number": {"type": "integer", "minimum": 1}}`,
			Required: append(inRepo, "number"), Run: domain.Bind(g.issue),
		},
		{
			Name: "github/search", About: "Search repositories, issues or code with GitHub's search syntax.",
			Input:    `{"query": {"type": "string", "description": "At most 256 characters."}, "kind": {"enum": ["repositories", "issues", "code"]}, ` + pages + `}`,
			Required: []string{"query", "kind"}, Codes: []candor.Code{common.InputTooLarge}, Run: domain.Bind(g.search),
		},
		{
			Name: "github/file", About: "Return a text file of a repository, or list a folder.",
			Input:    `{` + repository + `, "path": {"type": "string", "description": "Empty for the top folder."}, "ref": {"type": "string", "description": "Branch, tag or commit."}}`,
			Required: append(inRepo, "path"), Codes: []candor.Code{common.LimitExceeded, common.Unsupported}, Run: domain.Bind(g.file),
		},
	}
	for i := range methods {
		methods[i].Codes = append(methods[i].Codes, failures...)
		methods[i].ReadOnly, methods[i].Idempotent, methods[i].OpenWorld = true, true, true
	}
	return methods
}

const tokenAdvice = "set GITHUB_TOKEN, or MCP_GITHUB_ANONYMOUS=1 to read public data without one" //nolint:gosec // names of variables

func (g *github) health(context.Context) domain.Health {
	if !g.client.HasToken() && !g.anonymous {
		return domain.Health{Details: "no token: " + tokenAdvice}
	}
	return domain.Health{OK: true}
}

// get sends a request of the domain and decodes its answer.
func (g *github) get(ctx context.Context, r httpapi.Request, answer any) (http.Header, error) {
	if !g.client.HasToken() && !g.anonymous {
		return nil, domain.Fail(githubcode.AuthMissing, tokenAdvice, nil)
	}
	header, err := g.client.Do(ctx, r, answer)
	var e *httpapi.Error
	if errors.As(err, &e) && e.Status == http.StatusForbidden && limited(e.Said) {
		e.Limit = true
	}
	if err != nil {
		return nil, codes.Fail(err)
	}
	return header, nil
}

// limited reports whether a message is about a rate limit. GitHub answers 403 for it, sometimes without the rate limit
// headers.
func limited(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "rate limit") || strings.Contains(said, "abuse detection")
}

func invalid(format string, args ...any) error {
	return domain.Fail(common.InvalidParams, fmt.Sprintf(format, args...), nil)
}

func malformed(what string) error {
	return domain.Fail(githubcode.Parse, "the answer has no "+what, nil)
}

// repository names a repository.
type repository struct {
	Owner string `json:"owner"`
	Repo  string `json:"repo"`
}

var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// path returns the elements of a URL path in the repository.
func (r repository) path(more ...string) ([]string, error) {
	for _, n := range []string{r.Owner, r.Repo} {
		if !name().MatchString(n) || n == "." || n == ".." {
			return nil, invalid("owner and repo are names of letters, digits, '.', '-' and '_'")
		}
	}
	return append([]string{"repos", r.Owner, r.Repo}, more...), nil
}

// pages holds the paging parameters of lists.
type pages struct {
	Page    int `json:"page"`
	PerPage int `json:"perPage"`
}

func (p pages) query() url.Values {
	q := url.Values{}
	if p.Page > 0 {
		q.Set("page", strconv.Itoa(p.Page))
	}
	if p.PerPage > 0 {
		q.Set("per_page", strconv.Itoa(p.PerPage))
	}
	return q
}

var nextLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[?&]page=(\d{1,6})[^>]*>;\s*rel="next"`) })

// nextPage returns the number of the next page from the Link header, 0 at the end.
func nextPage(header http.Header) int {
	for part := range strings.SplitSeq(header.Get("Link"), ",") {
		if m := nextLink().FindStringSubmatch(part); m != nil {
			n, _ := strconv.Atoi(m[1]) // the pattern takes digits only
			return n
		}
	}
	return 0
}

// Package github is the harness domain that reads repositories, issues and files from GitHub.
package github

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
	githubcode "github.com/candor-mcp/candor/codes/github"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Name is the name of the domain.
const Name = "github"

var service = httpapi.Service{
	Name: Name, About: "Read repositories, issues and files from GitHub.",
	URL: "https://api.github.com", URLName: "MCP_GITHUB_BASE_URL", TokenName: "GITHUB_TOKEN",
	TokenAdvice: "set GITHUB_TOKEN, or MCP_GITHUB_ANONYMOUS=1 to read public data without one",
	Headers:     map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
	Codes: httpapi.Codes{
		NoToken: githubcode.AuthMissing, Auth: githubcode.AuthFailed, Rate: githubcode.RateLimit, NotFound: githubcode.NotFound,
		Invalid: common.InvalidParams, Network: githubcode.Network, Parse: githubcode.Parse, HTTP: githubcode.HTTP, RateDelay: time.Minute,
	},
}

type github struct{ httpapi.Service }

// Open returns the domain for GITHUB_TOKEN, MCP_GITHUB_BASE_URL, MCP_GITHUB_ANONYMOUS and MCP_HTTP_TIMEOUT_MS.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv}
	g := &github{service}
	g.Anonymous = v.Flag("MCP_GITHUB_ANONYMOUS")
	g.Configure(&v)
	const (
		repository = `"owner": {"type": "string"}, "repo": {"type": "string"}`
		pages      = `"page": {"type": "integer", "minimum": 1, "maximum": 1000}, "perPage": {"type": "integer", "minimum": 1, "maximum": 100}`
	)
	inRepo := []string{"owner", "repo"}
	return g.Domain([]domain.Method{
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
			Name: "github/file", About: "Return a text file of a repository, or list a folder.",
			Input:    `{` + repository + `, "path": {"type": "string", "description": "Empty for the top folder."}, "ref": {"type": "string", "description": "Branch, tag or commit."}}`,
			Required: append(inRepo, "path"), Codes: []candor.Code{common.LimitExceeded, common.Unsupported}, Run: domain.Bind(g.file),
		},
	}...), v.Err
}

// repository names a repository.
type repository struct {
	Owner string `json:"owner"`
	Repo  string `json:"repo"`
}

var name = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}$`)

// path returns the elements of a URL path in the repository.
func (g *github) path(r repository, more ...string) ([]string, error) {
	for _, n := range []string{r.Owner, r.Repo} {
		if !name.MatchString(n) || n == "." || n == ".." {
			return nil, g.Invalid("owner and repo are names of letters, digits, '.', '-' and '_'")
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

var nextLink = lazyregexp.New(`[?&]page=(\d{1,6})[^>]*>;\s*rel="next"`)

// nextPage returns the number of the next page from the Link header, 0 at the end.
func nextPage(header http.Header) int {
	for part := range strings.SplitSeq(header.Get("Link"), ",") {
		if m := nextLink.FindStringSubmatch(part); m != nil {
			n, _ := strconv.Atoi(m[1]) // the pattern takes digits only
			return n
		}
	}
	return 0
}

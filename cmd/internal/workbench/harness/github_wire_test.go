package harness_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

var githubService = service{"github", "MCP_GITHUB_BASE_URL", "GITHUB_TOKEN"}

const githubCodes = `
github/E_GH_AUTH_MISSING
github/E_GH_AUTH_FAILED
github/E_GH_NETWORK
github/E_GH_HTTP
github/E_GH_RATE_LIMIT
github/E_GH_NOT_FOUND
github/E_GH_PARSE
`

const githubRepo = `"owner":"octocat","repo":"hello-world"`

func TestEveryCodeOfGitHubIsEmitted(t *testing.T) {
	t.Parallel()
	emit := githubService.emitsOf(t, "github/repo", `{`+githubRepo+`}`, map[string]http.HandlerFunc{
		"github/E_GH_AUTH_FAILED": says(401, `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`),
		"github/E_GH_NETWORK":     hangUp,
		"github/E_GH_HTTP":        says(502, `{"message":"Server Error"}`),
		"github/E_GH_RATE_LIMIT":  says(403, `{"message":"API rate limit exceeded for user ID 1."}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"),
		"github/E_GH_NOT_FOUND":   says(404, `{"message":"Not Found"}`),
		"github/E_GH_PARSE":       says(200, `[]`),
	})
	emit["github/E_GH_AUTH_MISSING"] = func(t *testing.T) string {
		return start(t, setup{env: []string{"GITHUB_TOKEN="}, flags: []string{"--domain", "github"}}).call("github/repo", `{`+githubRepo+`}`).code()
	}
	emits.Check(t, githubCodes, emit)
}

func fakeGitHub(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-GitHub-Api-Version") == "" || r.Header.Get("User-Agent") == "" || r.Header.Get("Accept") != "application/vnd.github+json" {
		says(403, `{"message":"Request forbidden by administrative rules."}`)(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	const repo = `{"id":1,"full_name":"octocat/hello-world","private":false,"html_url":"https://github.com/octocat/hello-world","description":null,
		"default_branch":"main","stargazers_count":80,"forks_count":9,"open_issues_count":2,"license":{"spdx_id":"MIT"},"language":null}`
	issue := func(n int, more string) string {
		return fmt.Sprintf(`{"number":%d,"title":"Bug %d","state":"open","html_url":"https://github.com/i","user":{"login":"octocat"},"labels":[{"name":"bug"}],"comments":1,"body":"Text %s"%s}`, n, n, serviceToken, more)
	}
	switch r.URL.EscapedPath() {
	case "/repos/octocat/hello-world":
		_, _ = io.WriteString(w, repo)
	case "/repos/octocat/renamed":
		http.Redirect(w, r, "/repos/octocat/hello-world", http.StatusMovedPermanently)
	case "/repos/octocat/hello-world/issues":
		if r.URL.Query().Get("page") != "2" {
			w.Header().Set("Link", `<https://api.github.com/repositories/1/issues?per_page=1&page=2>; rel="next", <https://api.github.com/repositories/1/issues?per_page=1&page=9>; rel="last"`)
			_, _ = io.WriteString(w, "["+issue(1, "")+"]")
			return
		}
		w.Header().Set("Link", `<https://api.github.com/repositories/1/issues?page=1>; rel="prev"`)
		_, _ = io.WriteString(w, "["+issue(2, `,"pull_request":{"url":"x"}`)+"]")
	case "/repos/octocat/hello-world/issues/1":
		_, _ = io.WriteString(w, issue(1, ""))
	case "/search/repositories":
		_, _ = io.WriteString(w, `{"total_count":1,"incomplete_results":true,"items":[`+repo+`]}`)
	case "/search/code":
		_, _ = io.WriteString(w, `{"total_count":1,"incomplete_results":false,"items":[{"name":"a.go","path":"x/a.go","html_url":"u","repository":`+repo+`}]}`)
	case "/search/issues":
		says(422, `{"message":"Validation Failed","errors":[{"message":"None of the search qualifiers apply"}]}`)(w, r)
	case "/repos/octocat/hello-world/contents/docs/a%20b.md":
		text := base64.StdEncoding.EncodeToString([]byte("héllo\n"))
		_, _ = fmt.Fprintf(w, `{"type":"file","name":"a b.md","path":"docs/a b.md","size":7,"sha":"1","encoding":"base64","content":"%s\n%s\n"}`, text[:4], text[4:])
	case "/repos/octocat/hello-world/contents":
		_, _ = io.WriteString(w, `[{"type":"dir","name":"docs","path":"docs","size":0},{"type":"file","name":"README","path":"README","size":3}]`)
	case "/repos/octocat/hello-world/contents/large":
		_, _ = io.WriteString(w, `{"type":"file","name":"large","path":"large","size":2000000,"sha":"1","encoding":"none","content":""}`)
	case "/repos/octocat/hello-world/contents/image.png":
		_, _ = io.WriteString(w, `{"type":"file","name":"image.png","path":"image.png","size":3,"sha":"1","encoding":"base64","content":"/wAB"}`)
	default:
		says(404, `{"message":"Not Found"}`)(w, r)
	}
}

func TestGitHubReadsAndSearches(t *testing.T) {
	t.Parallel()
	h := githubService.start(t, fakeGitHub)
	for call, want := range map[[2]string]string{
		{"github/repo", `{` + githubRepo + `}`}:                      `{"name":"octocat/hello-world","url":"https://github.com/octocat/hello-world","defaultBranch":"main","license":"MIT","stars":80,"forks":9,"openIssues":2}`,
		{"github/repo", `{"owner":"octocat","repo":"renamed"}`}:      `"name":"octocat/hello-world"`,
		{"github/issues", `{` + githubRepo + `,"perPage":1}`}:        `"nextPage":2`,
		{"github/issues", `{` + githubRepo + `,"page":2}`}:           `{"issues":[{"number":2,"title":"Bug 2","state":"open","url":"https://github.com/i","author":"octocat","labels":["bug"],"comments":1,"pullRequest":true}]}`,
		{"github/issue", `{` + githubRepo + `,"number":1}`}:          `"body":"Text [redacted]"`,
		{"github/search", `{"query":"x","kind":"repositories"}`}:     `{"total":1,"incomplete":true,"items":[{"name":"octocat/hello-world"`,
		{"github/search", `{"query":"x","kind":"code"}`}:             `"path":"x/a.go","repository":"octocat/hello-world"`,
		{"github/file", `{` + githubRepo + `,"path":"docs/a b.md"}`}: `"content":"héllo\n"`,
		{"github/file", `{` + githubRepo + `,"path":""}`}:            `{"entries":[{"type":"dir","name":"docs","path":"docs"},{"type":"file","name":"README","path":"README","size":3}]}`,
	} {
		if text := string(h.call(call[0], call[1]).result().Raw()); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", call, text, want)
		}
	}
	for call, want := range map[[2]string]int64{
		{"github/search", `{"query":"is:","kind":"issues"}`}:                            1000,
		{"github/search", `{"query":" ","kind":"issues"}`}:                              1000,
		{"github/search", `{"query":"` + strings.Repeat("x", 257) + `","kind":"code"}`}: 1005,
		{"github/repo", `{"owner":"..","repo":"x"}`}:                                    1000,
		{"github/repo", `{"owner":"a/b","repo":"x"}`}:                                   1000,
		{"github/file", `{` + githubRepo + `,"path":"../../user"}`}:                     1000,
		{"github/file", `{` + githubRepo + `,"path":"large"}`}:                          1002,
		{"github/file", `{` + githubRepo + `,"path":"image.png"}`}:                      1006,
		{"github/file", `{` + githubRepo + `,"path":"missing"}`}:                        3105,
	} {
		if r := h.call(call[0], call[1]); r.number() != want {
			t.Errorf("%s: want %d: %s", call, want, r.m.Bytes())
		}
	}
}

func TestGitHubFailuresAreMapped(t *testing.T) {
	t.Parallel()
	date := time.Now().UTC().Add(-72 * time.Hour) // the clock of the service differs from the local one
	now := "Date: " + date.Format(http.TimeFormat)
	reset := fmt.Sprintf("X-RateLimit-Reset: %d", date.Unix()+300)
	const secondary = `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	refusals := redirects(3103, "github/E_GH_HTTP")
	for name, r := range map[string]refusal{
		"primary":       {says(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining: 0", reset, now), 3104, "github/E_GH_RATE_LIMIT", 300_000, "rate limit"},
		"primary 429":   {says(429, `{}`, "X-RateLimit-Remaining: 0", reset, now), 3104, "github/E_GH_RATE_LIMIT", 300_000, "429"},
		"secondary":     {says(403, secondary, "Retry-After: 90", "X-RateLimit-Remaining: 4000", reset, now), 3104, "github/E_GH_RATE_LIMIT", 90_000, "secondary"},
		"no headers":    {says(403, secondary, "X-RateLimit-Remaining: 4000", reset, now), 3104, "github/E_GH_RATE_LIMIT", 60_000, "secondary"},
		"forbidden":     {says(403, `{"message":"Resource not accessible by integration"}`, "X-RateLimit-Remaining: 4000", reset, now), 3101, "github/E_GH_AUTH_FAILED", -1, "not accessible"},
		"echo":          {says(401, `{"message":"Bad `+serviceToken+`"}`), 3101, "github/E_GH_AUTH_FAILED", -1, "Bad [redacted]"},
		"gone":          {says(410, `{"message":"Issues are disabled for this repo"}`), 3105, "github/E_GH_NOT_FOUND", -1, "disabled"},
		"legal":         {says(451, `{"message":"Repository access blocked"}`), 3103, "github/E_GH_HTTP", -1, "451"},
		"accepted":      {says(202, `{}`), 3106, "github/E_GH_PARSE", 1_000, "202"},
		"wrong type":    {says(200, `{"full_name":5}`), 3106, "github/E_GH_PARSE", 1_000, "another form"},
		"redirect loop": {says(302, "", "Location: /repos/octocat/hello-world"), 3103, "github/E_GH_HTTP", -1, "too often"},
		"endless":       {trickle, 1001, "common/E_TIMEOUT", 1_000, ""},
	} {
		refusals[name] = r
	}
	githubService.check(t, "github/repo", `{`+githubRepo+`}`, refusals)
	anonymous := start(t, setup{env: []string{"GITHUB_TOKEN=", "MCP_GITHUB_ANONYMOUS=1", "MCP_GITHUB_BASE_URL=http://127.0.0.1:1"}, flags: []string{"--domain", "github"}})
	if r := anonymous.call("github/repo", `{`+githubRepo+`}`).fails(3102, "github/E_GH_NETWORK"); !strings.Contains(r.details(), "refused") {
		t.Errorf("%s", r.m.Bytes())
	}
}

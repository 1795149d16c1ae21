package github_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/testing/domaintest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/github"
	"github.com/candor-mcp/candor/codes/common"
	githubcode "github.com/candor-mcp/candor/codes/github"
)

const (
	token = "the-token-of-the-test-4711"
	repo  = `"owner":"octocat","repo":"hello-world"`
)

// fakeGitHub has a repository with two issues and three files. It echoes the token.
func fakeGitHub(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-GitHub-Api-Version") == "" || r.Header.Get("User-Agent") == "" || r.Header.Get("Accept") != "application/vnd.github+json" {
		http.Error(w, `{"message":"Request forbidden by administrative rules."}`, http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	const described = `{"id":1,"full_name":"octocat/hello-world","private":false,"html_url":"https://github.com/octocat/hello-world","description":null,
		"default_branch":"main","stargazers_count":80,"forks_count":9,"open_issues_count":2,"license":{"spdx_id":"MIT"},"language":null}`
	issue := func(n int, more string) string {
		return fmt.Sprintf(`{"number":%d,"title":"Bug %d","state":"open","html_url":"https://github.com/i","user":{"login":"octocat"},"labels":[{"name":"bug"}],"comments":1,"body":"Text %s"%s}`, n, n, token, more)
	}
	switch r.URL.EscapedPath() {
	case "/repos/octocat/hello-world":
		_, _ = io.WriteString(w, described)
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
		http.Error(w, `{"message":"Not Found"}`, 404)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	fake := httptest.NewServer(http.HandlerFunc(fakeGitHub))
	t.Cleanup(fake.Close)
	call := domaintest.Open(t, github.Open, map[string]string{"MCP_GITHUB_BASE_URL": fake.URL, "GITHUB_TOKEN": token})
	for in, want := range map[[2]string]string{
		{"github/repo", `{` + repo + `}`}:                       `{"name":"octocat/hello-world","url":"https://github.com/octocat/hello-world","defaultBranch":"main","license":"MIT","stars":80,"forks":9,"openIssues":2}`,
		{"github/repo", `{"owner":"octocat","repo":"renamed"}`}: `"name":"octocat/hello-world"`,
		{"github/issues", `{` + repo + `,"perPage":1}`}:         `"nextPage":2`,
		{"github/issues", `{` + repo + `,"page":2}`}:            `{"issues":[{"number":2,"title":"Bug 2","state":"open","url":"https://github.com/i","author":"octocat","labels":["bug"],"comments":1,"pullRequest":true}]}`,
		{"github/issue", `{` + repo + `,"number":1}`}:           `"body":"Text [redacted]"`,
		{"github/file", `{` + repo + `,"path":"docs/a b.md"}`}:  `"content":"héllo\n"`,
		{"github/file", `{` + repo + `,"path":""}`}:             `{"entries":[{"type":"dir","name":"docs","path":"docs"},{"type":"file","name":"README","path":"README","size":3}]}`,
	} {
		if text, e := call(in[0], in[1]); e != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %v, want %s", in, text, e, want)
		}
	}
	for in, want := range map[[2]string]candor.Code{
		{"github/repo", `{"owner":"..","repo":"x"}`}:          common.InvalidParams,
		{"github/repo", `{"owner":"a/b","repo":"x"}`}:         common.InvalidParams,
		{"github/file", `{` + repo + `,"path":"../../user"}`}: common.InvalidParams,
		{"github/file", `{` + repo + `,"path":"large"}`}:      common.LimitExceeded,
		{"github/file", `{` + repo + `,"path":"image.png"}`}:  common.Unsupported,
		{"github/file", `{` + repo + `,"path":"missing"}`}:    githubcode.NotFound,
	} {
		if text, e := call(in[0], in[1]); e == nil || e.Code() != want {
			t.Errorf("%s: %s, %v, want %v", in, text, e, want)
		}
	}
}

package harness_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var githubService = service{"github", "MCP_GITHUB_BASE_URL", "GITHUB_TOKEN"}

const githubRepo = `"owner":"octocat","repo":"hello-world"`

func TestEveryCodeOfGitHubIsEmitted(t *testing.T) {
	t.Parallel()
	date := time.Now().UTC().Add(-72 * time.Hour) // the clock of the service differs from the local one
	now := "Date: " + date.Format(http.TimeFormat)
	reset := fmt.Sprintf("X-RateLimit-Reset: %d", date.Unix()+300)
	const secondary = `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	githubService.check(t, "github/repo", `{`+githubRepo+`}`, map[string]refusal{
		"primary":       {says(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining: 0", reset, now), 3104, "github/E_GH_RATE_LIMIT", 300_000, "rate limit"},
		"secondary":     {says(403, secondary, "Retry-After: 90", "X-RateLimit-Remaining: 4000", reset, now), 3104, "github/E_GH_RATE_LIMIT", 90_000, "secondary"},
		"no headers":    {says(403, secondary, "X-RateLimit-Remaining: 4000", reset, now), 3104, "github/E_GH_RATE_LIMIT", 60_000, "secondary"},
		"forbidden":     {says(403, `{"message":"Resource not accessible by integration"}`, "X-RateLimit-Remaining: 4000", reset, now), 3101, "github/E_GH_AUTH_FAILED", -1, "not accessible"},
		"echo":          {says(401, `{"message":"Bad `+serviceToken+`"}`), 3101, "github/E_GH_AUTH_FAILED", -1, "Bad [redacted]"},
		"gone":          {says(410, `{"message":"Issues are disabled for this repo"}`), 3105, "github/E_GH_NOT_FOUND", -1, "disabled"},
		"accepted":      {says(202, `{}`), 3106, "github/E_GH_PARSE", 1_000, "202"},
		"wrong type":    {says(200, `{"full_name":5}`), 3106, "github/E_GH_PARSE", 1_000, "another form"},
		"redirect loop": {says(302, "", "Location: /repos/octocat/hello-world"), 3103, "github/E_GH_HTTP", -1, "too often"},
		"not found":     {says(404, `{"message":"Not Found"}`), 3105, "github/E_GH_NOT_FOUND", -1, "Not Found"},
		"hang-up":       {hangUp, 3102, "github/E_GH_NETWORK", 1_000, "broke"},
		"server error":  {says(502, `{"message":"Server Error"}`), 3103, "github/E_GH_HTTP", 1_000, "502"},
	})
	t.Run("github/E_GH_AUTH_MISSING", func(t *testing.T) {
		h := start(t, setup{env: []string{"GITHUB_TOKEN="}, flags: []string{"--domain", "github"}})
		h.call("github/repo", `{`+githubRepo+`}`).fails(3100, "github/E_GH_AUTH_MISSING")
	})
	anonymous := start(t, setup{env: []string{"GITHUB_TOKEN=", "MCP_GITHUB_ANONYMOUS=1", "MCP_GITHUB_BASE_URL=http://127.0.0.1:1"}, flags: []string{"--domain", "github"}})
	if r := anonymous.call("github/repo", `{`+githubRepo+`}`).fails(3102, "github/E_GH_NETWORK"); !strings.Contains(r.details(), "refused") {
		t.Errorf("%s", r.m.Bytes())
	}
}

package foreign_test

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

// TestStatusIsNotAnyNumber checks that ports, counts, lines, ids and years are not read as statuses.
func TestStatusIsNotAnyNumber(t *testing.T) {
	for text, want := range map[string]int{
		"Request failed with status code 404":                           404,
		"Request failed with status 500. Please try again later.":       500,
		"HTTP/1.1 503 Service Unavailable":                              503,
		"unexpected status code: 418":                                   418,
		"Error 429":                                                     429,
		"error: 403 Forbidden":                                          403,
		"API error (401): bad key":                                      401,
		"GraphQL Error (Code: 429): nope":                               429,
		"Server responded with 502":                                     502,
		"The server returned 404.":                                      404,
		"Failed to fetch page: 404":                                     404,
		"HTTP status client error (404 Not Found) for url (https://a/)": 404,
		"GET https://api.example/x: 404 Not Found []":                   404,
		"请求失败，状态码：503":                                                  503,
		"non-200 OK status code: 401 Unauthorized":                      401,
		"Client error '400 Bad Request' for url 'https://a.example/'":   400,
		"listening on port 443":                                         0,
		"connect to 10.0.0.1:500 refused":                               0,
		"got 404 results":                                               0,
		"upload error: 404 files skipped":                               0,
		"took 500 ms":                                                   0,
		"line 404, column 12":                                           0,
		"issue #404 is closed":                                          0,
		"Room 404 is taken":                                             0,
		"exit status 255":                                               0,
		"process exited with code 143":                                  0,
		"expected at most 500, got 512":                                 0,
		"value must be <= 500":                                          0,
		"id 500-404-401 unknown":                                        0,
		"in 2024 there were 429 of them":                                0,
		"Error: 12345 is unknown":                                       0,
		"version 4.0.4 is too old":                                      0,
		"limit: 500":                                                    0,
		"maxResults: 200 exceeded":                                      0,
		"File not found":                                                0,
	} {
		if got := foreign.ReadText(text, wire.Value{}).Status; got != want {
			t.Errorf("%q: status %d, want %d", text, got, want)
		}
	}
}

// TestDelayIsNotAnyNumber checks that delays are read in every spelling, and other numbers are not.
func TestDelayIsNotAnyNumber(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Retry-After: 7":                      7 * time.Second,
		"retry after 7 seconds":               7 * time.Second,
		"Retry after 2 minutes":               2 * time.Minute,
		"please retry in 3.5s":                3500 * time.Millisecond,
		"Please try again in 1m30s.":          90 * time.Second,
		"Try again in 1 hour and 5 minutes":   65 * time.Minute,
		"retryAfter: 30":                      30 * time.Second,
		"Please wait about 30 seconds":        30 * time.Second,
		"rate limit resets in 45 seconds":     45 * time.Second,
		"try again in 500ms":                  500 * time.Millisecond,
		"Retry in 10 secs":                    10 * time.Second,
		"(retry-after: 60)":                   time.Minute,
		"x-ratelimit-reset: 12":               12 * time.Second,
		"failed after 3 retries":              -1,
		"timed out after 30 seconds":          -1,
		"waited for 3 boats":                  -1,
		"retry after fixing 2 errors":         -1,
		"try again with at least 8 letters":   -1,
		"try again in 2026":                   -1,
		"wait until the 3 boats have left":    -1,
		"Retry-After: 2026-11-15T01:00:00Z":   -1,
		"retry the call, see section 7 below": -1,
	} {
		said := foreign.ReadText(text, wire.Value{})
		if want < 0 && said.Delayed {
			t.Errorf("%q: a wait of %v where none is said", text, said.RetryAfter)
		}
		if want >= 0 && (!said.Delayed || said.RetryAfter != want) {
			t.Errorf("%q: %v (%v), want %v", text, said.RetryAfter, said.Delayed, want)
		}
	}
}

// TestProseNamesNoFields checks that ordinary sentences give no issues.
func TestProseNamesNoFields(t *testing.T) {
	for _, text := range []string{
		"Authentication is required", "API key is required", "Login required", "You must be logged in to see this", "The server must be restarted",
		"Permission is required to read this folder", "No results found for your query", "File not found: notes.txt", "Connection refused by the host",
		"GITHUB_TOKEN is not set", "PIER_API_TOKEN is required", "moor_boat requires PIER_API_URL to be set", "GITHUB_TOKEN environment variable is required", "Tool moor_boat not found", "An unexpected error occurred",
		"Expected string, received undefined", "Unknown tool: moor_boat", "Session not initialized. You must call open_session first.",
		"Unexpected token '<', \"<html><bod\"... is not valid JSON", "The requested resource does not exist", "invalid request", "Invalid API key provided",
		"Rate limit exceeded", "request to https://pier.example/ failed", "Cannot read properties of undefined (reading 'length')",
		"object is not iterable", "undefined is not a function", "Not connected to the pier", "Access denied - path outside allowed directories: /a/b",
		"Unknown error", "Method not found", "Bad credentials", "This feature requires a paid plan", "The minimum required version is 1.20",
		"database is locked", "no such table: boats", "division by zero", "command not found: git", "Failed to parse JSON: unexpected end of input",
	} {
		if said := foreign.ReadText(text, wire.Value{}); len(said.Issues) != 0 {
			t.Errorf("%q: issues %v", text, said.Issues)
		}
	}
}

// TestFieldsOfOtherServers checks sentences of well-known libraries that name a field.
func TestFieldsOfOtherServers(t *testing.T) {
	for text, want := range map[string]string{
		"Missing required parameter: channel_id":                   "/channel_id",
		"Missing required argument 'query'":                        "/query",
		"Missing required fields: title, body":                     "/title",
		"Required parameter 'path' is missing":                     "/path",
		"required parameter missing: path":                         "/path",
		"Parameter \"limit\" must be between 1 and 100":            "/limit",
		"`page_size` must be a positive integer":                   "/page_size",
		"userId must not be empty":                                 "/userId",
		"pageToken cannot be empty":                                "/pageToken",
		"Field 'email' is required":                                "/email",
		"The 'url' parameter is required":                          "/url",
		"The email field is required.":                             "/email",
		"Invalid value for 'sort': must be asc or desc":            "/sort",
		"Invalid value for parameter sortOrder":                    "/sortOrder",
		"Invalid 'limit' parameter":                                "/limit",
		"Invalid date_from: not a date":                            "/date_from",
		"Unexpected parameter 'foo'":                               "/foo",
		"Unrecognized key(s) in object: 'foo'":                     "/foo",
		"property foo should not exist":                            "/foo",
		"name must be a string":                                    "/name",
		"project_id is missing":                                    "/project_id",
		"No query provided":                                        "",
		"no file_path provided":                                    "/file_path",
		"search_query parameter missing":                           "/search_query",
		"'repo' is required":                                       "/repo",
		"Please provide a valid issueKey":                          "/issueKey",
		"argument missing: repoName":                               "/repoName",
		"Argument 'count' expected number but got string":          "/count",
		"param is missing or the value is empty: boat":             "/boat",
		"KeyError: 'query'":                                        "/query",
		"search() missing 1 required positional argument: 'query'": "/query",
		"Value error for field timezone_name: unknown zone":        "",
		"Invalid params: missing field `query`":                    "/query",
		"failed to parse arguments: json: unknown field \"foo\"":   "/foo",
		"Validation failed: title can't be blank":                  "/title",
		"Either `id` or `slug` must be specified":                  "/id",
		"1 validation error for SearchArgs\nquery\n  Field required [type=missing, input_value={}, input_type=dict]": "/query",
		"instance requires property \"title\"":                                  "/title",
		"instance.count is not of a type(s) number":                             "/count",
		"Missing required property: workspaceId":                                "/workspaceId",
		"owner: missing required parameter":                                     "/owner",
		"Invalid arguments: the berth (north) is taken (again)":                 "",
		"参数 query 不能为空":                                                         "/query",
		"Invalid arguments: query: String must contain at least 1 character(s)": "/query",
	} {
		said := foreign.ReadText(text, wire.Value{})
		var all []string
		for _, issue := range said.Issues {
			all = append(all, issue.Path)
		}
		got := strings.Join(all, " ")
		if got != want && (len(all) == 0 || all[0] != want) {
			t.Errorf("%q: %q of %v, want %q", text, got, said.Issues, want)
		}
	}
}

// TestFieldsAreReadWithTheRequest checks sentences that are ambiguous without the arguments of the call.
func TestFieldsAreReadWithTheRequest(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"Invalid tide given", `{"tide":"high","fromTideTable":"north"}`, "/tide"},
		{"Unknown tide value: high", `{"tide":"high","fromTideTable":"north"}`, "/tide"},
		{"Invalid scheme, expected pier or moor", `{"address":"x://y"}`, ""},
		{"Invalid scheme, expected pier or moor", `{"scheme":"x"}`, "/scheme"},
	} {
		args, err := wire.ParseValue([]byte(c.args), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, issue := range foreign.ReadText(c.text, args).Issues {
			got = append(got, issue.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q with %s: %v, want %q", c.text, c.args, got, c.want)
		}
	}
}

// TestTheSentenceOfAReasonWithoutANameStays checks that a sentence is kept whole if only a reason such as "(Required)" would
// remain.
func TestTheSentenceOfAReasonWithoutANameStays(t *testing.T) {
	if said := foreign.ReadText("MCP error -32602: Invalid arguments:  (Required)", wire.Value{}); said.Text != "Invalid arguments:  (Required)" {
		t.Errorf("%q", said.Text)
	}
}

func TestTheReasonOfAnItemIsToldWithoutTheMarkOfItsList(t *testing.T) {
	for _, mark := range []string{"•", "-", "*"} {
		said := foreign.ReadText("moor: Validation failed:\n  "+mark+" berth: berth cannot be empty\n\nSee the pier.", wire.Value{})
		if len(said.Issues) != 1 || said.Issues[0].Path != "/berth" || said.Issues[0].Message != "berth: berth cannot be empty" {
			t.Errorf("%s: %+v", mark, said.Issues)
		}
	}
}

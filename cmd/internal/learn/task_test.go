package learn

import "testing"

func TestTellsTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, tool, source, text string
		want                       bool
	}{
		{"files", "read_file", "file", "Error reading file: ENOENT", true},
		{"files", "readNote", "file", "Failed to open /srv/notes/a.txt: EACCES", true},
		{"files", "read_many", "file", "/srv/a.txt: Error - permission denied", true},
		{"files", "batch_get", "file", "# /srv/a.txt\n\nError reading file: timeout\n", true},
		{"web", "grab", "page", "Could not fetch https://a.example/: 503", true},
		{"web", "grab", "page", "An error occurred", false},
		{"@acme/wiki-mcp", "lookup", "query", "Error searching the wiki: fetch failed", true},
		{"db", "run_sql", "query", "Error executing query: no such table", true},
		{"shell", "run_command", "command", "Failed to run command: spawn ls ENOENT", true},
		{"weather", "get_forecast", "own", "Error getting forecast: no such city", true},
		{"any", "any", "query", "No API key configured. Please provide an API key.", true},
		{"any", "any", "file", `The "path" parameter is required`, true},
		{"any", "no_such", "own", "Error calling tool no_such: Unknown tool", true},

		// Content of others.
		{"files", "read_file", "file", "Error: something went wrong", false},
		{"files", "read_file", "file", "Failed to fetch user profile: 401 Unauthorized", false},
		{"files", "read_file", "file", "Permission denied (publickey).", false},
		{"files", "read_file", "file", "# Error codes\n", false},
		{"web", "fetch", "page", "Failed to fetch user profile: 401 Unauthorized", false},
		{"web", "fetch", "page", "How to fix Error: ENOENT", false},
		{"shell", "run_command", "command", "/srv/main.c: error: expected ;", false},
		{"shell", "run_command", "command", "Failed to build image: exit status 1", false},
		{"notes", "get_log", "search", "Error: deploy failed", false},
		{"files", "read_file", "file", "Failed to start: file missing", false}, // the reason is not the task
		{"", "", "", "", false},
	} {
		if got := tellsTask(c.server, c.tool, c.source, c.text); got != c.want {
			t.Errorf("%s of %s (%s), %q: %v", c.tool, c.server, c.source, c.text, got)
		}
	}
}

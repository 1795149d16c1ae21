package redact_test

import (
	"testing"

	"github.com/candor-mcp/candor/internal/redact"
)

// TestPathsOnlyHidesDirectoriesOfRedactedText checks that a text whose secrets were removed before is the one that a single redaction gives.
func TestPathsOnlyHidesDirectoriesOfRedactedText(t *testing.T) {
	kept, hidden := redact.Policy{KeepPaths: true}, redact.Policy{PathsOnly: true}
	for _, text := range []string{
		`open /home/ann/docs/notes.txt: permission denied`, `{"error":"open \/home\/ann\/docs\/notes.txt"}`, `C:\Users\Ann\docs\notes.txt is missing`,
		`see file:///home/ann/notes.txt and ~/docs/notes.txt`, `\\host\share\notes.txt, password=hunter2secret in /home/ann/.env`,
		`https://ann:hunter2secret@example.com/a/b`, `no path, no secret`, `{"path":"\/srv\/data\/x.db","token":"ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"}`,
	} {
		if got, want := hidden.Text(kept.Text(text)), redact.Text(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if text := "password=hunter2secret"; hidden.Text(text) != text {
		t.Error("a text was searched for secrets")
	}
}

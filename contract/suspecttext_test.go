package contract_test

import (
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// TestAListOfNothingIsAnAnswer has tools that say what there is not: some were asked for exactly that, others needed it.
func TestAListOfNothingIsAnAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool, text string
		failed     bool
	}{
		{"list_spec_sources", "No OpenAPI specifications configured.", false},
		{"listDevices", "No devices connected", false},
		{"list_tabs", "No browser connected.", true},
		{"get_spec", "No specifications configured.", true},
		{"list_devices", "No devices connected. Please start one first.", true},
	} {
		if got := contract.Classify(answered(t, tc.tool, `{}`, tc.text)); got.Verdict.Failure() != tc.failed {
			t.Errorf("%s says %q: %s by %s", tc.tool, tc.text, got.Verdict, got.Rule)
		}
	}
}

// TestALongFailureIsOneByItsFirstWords has a text of many lines, as of a tool that adds all it knows.
func TestALongFailureIsOneByItsFirstWords(t *testing.T) {
	t.Parallel()
	const rest = "\nDetails:\nthe socket was closed\nby the other side\n--> before the answer\n|   was complete\n--- or had begun\nAsk your administrator."
	for text, failed := range map[string]bool{
		"An error occurred while creating the record." + rest:         true,
		"An unexpected error has occurred." + rest:                    true,
		"An error budget is what a team may spend in a month." + rest: false,
	} {
		if got := contract.Classify(answered(t, "create_record", `{}`, text)); got.Verdict.Failure() != failed {
			t.Errorf("%q: %s by %s", text[:40], got.Verdict, got.Rule)
		}
	}
}

// TestTheNumberOfAnExitCounts: a command that ended well may say so.
func TestTheNumberOfAnExitCounts(t *testing.T) {
	t.Parallel()
	for text, failed := range map[string]bool{"Exit code: 0": false, "Process exited with code 0": false, "Exit code: 2": true, "Process exited with code 10": true} {
		if got := contract.Classify(answered(t, "build", `{}`, text)); got.Verdict.Failure() != failed {
			t.Errorf("%q: %s by %s", text, got.Verdict, got.Rule)
		}
	}
}

// TestWhoseWordsCountsAsWellAsWhich has short answers that one tool gives when it fails, and another when it does what it is there for.
func TestWhoseWordsCountsAsWellAsWhich(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool, text string
		failed     bool
	}{
		{"close_issue", "Issue 12 has been closed.", false},
		{"cancelOrder", "The order was cancelled", false},
		{"deny_request", "Request 5 is denied", false},
		{"comment_issue", "Issue 12 has been closed.", true},
		{"request_page", "The requested page was not found", true},
		{"validate_email", "Invalid email address", false},
		{"validate_email", "Error: the validator is away", true},
		{"send_email", "Invalid email address", true},
		{"server_status", "The server is down", false},
		{"server_status", "Error: the agent is away", true},
		{"restart_job", "The server is down", true},
		{"find_missing_files", "Missing: two files", false},
		{"list_failed_jobs", "No failed jobs.", false},
		{"create_job", "Missing: name", true},
	} {
		if got := contract.Classify(answered(t, tc.tool, `{}`, tc.text)); got.Verdict.Failure() != tc.failed {
			t.Errorf("%s says %q: %s by %s", tc.tool, tc.text, got.Verdict, got.Rule)
		}
	}
}

// TestFailuresAreKnownByHowTheyAreTold has wordings that no table of recorded answers held.
func TestFailuresAreKnownByHowTheyAreTold(t *testing.T) {
	t.Parallel()
	for text, failed := range map[string]bool{
		"[ERROR] no room for the page":                 true,
		"[draft] a page about rooms":                   false,
		"# Error\n\nThe page is torn.":                 true,
		"# Errors\n\nThis page is about them.":         false,
		"Oops! Something went wrong with the page.":    true,
		"Internal server error":                        true,
		"There was a problem with the page":            true,
		"There was a page about problems":              false,
		"Service temporarily unavailable":              true,
		"No changes were made: the page is up to date": false,
		"The message was saved, not sent.":             false,
		"Message not sent: the book is full":           true,
		"Unknown timezone: Moon/North":                 true,
		"Unknown Pleasures is an album of 1979":        false,
	} {
		if got := contract.Classify(answered(t, "page", `{}`, text)); got.Verdict.Failure() != failed {
			t.Errorf("%q: %s by %s", text, got.Verdict, got.Rule)
		}
	}
}

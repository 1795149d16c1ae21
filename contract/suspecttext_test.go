package contract_test

import (
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// TestAListOfNothingIsAnAnswer checks answers that say that nothing exists: a success for a tool that lists, a failure for others.
func TestAListOfNothingIsAnAnswer(t *testing.T) {
	t.Parallel()
	said(t, []saying{
		{"list_spec_sources", "No OpenAPI specifications configured.", false},
		{"listDevices", "No devices connected", false},
		{"list_tabs", "No browser connected.", true},
		{"get_spec", "No specifications configured.", true},
		{"list_devices", "No devices connected. Please start one first.", true},
	})
}

// TestWhoseWordsCountsAsWellAsWhich checks short answers that are a failure for one tool and a regular answer for another.
func TestWhoseWordsCountsAsWellAsWhich(t *testing.T) {
	t.Parallel()
	said(t, []saying{
		{"close_issue", "Issue 12 has been closed.", false},
		{"cancelOrder", "The order was cancelled", false},
		{"deny_request", "Request 5 is denied", false},
		{"lock_door", "The door is locked", false},
		{"comment_issue", "Issue 12 has been closed.", true},
		{"request_page", "The requested page was not found", true},
		{"validate_email", "Invalid email address", false},
		{"validate_email", "Error: the validator is away", true},
		{"send_email", "Invalid email address", true},
		{"server_status", "The server is down", false},
		{"server_status", "Error: the agent is away", true},
		{"order_status", "Order 5 was not found", true},
		{"set_order_status", "Order 5 is locked", true},
		{"restart_job", "The server is down", true},
		{"list_failed_jobs", "No failed jobs.", false},
		{"create_job", "Missing: name", true},
	})
}

// TestAVerbOfTheNameExcusesNoFailure checks failures that contain a word of the tool's name.
func TestAVerbOfTheNameExcusesNoFailure(t *testing.T) {
	t.Parallel()
	said(t, []saying{
		{"convert_time", "Request timed out", true},
		{"get_current_time", "Connection timed out", true},
		{"time_operation", "The operation timed out after 30 seconds", true},
		{"connect_db", "Connection refused: already connected elsewhere", true},
		{"deny_list_add", "Access denied", true},
		{"deny_access", "Access denied", true},
		{"lock_file", "Database is locked", true},
		{"lock_file", "Lock: the database is locked", true},
		{"lock_record", "Record is locked by bob", true},
		{"expire_session", "Session expired, please log in", true},
		{"refuse_invite", "Connection refused", true},
		{"require_auth", "Authentication required", true},
		{"close_connection", "Connection closed unexpectedly", true},
		{"close_issue", "The call timed out before the issue was closed", true},
		{"need_approval", "Approval needed: permission denied", true},
		{"rate_movie", "Rate limit reached: try later", true},
	})
}

// TestOrdinaryAnswersAreNotSuspected checks regular answers that contain words common in failures.
func TestOrdinaryAnswersAreNotSuspected(t *testing.T) {
	t.Parallel()
	said(t, []saying{
		{"get_quote", "TSLA is currently down 4.5%", false},
		{"draft_email", "Draft ready; not sent yet.", false},
		{"devices", "Unknown device at 10.0.0.4 (Apple)", false},
		{"movie", "Unknown Country (1936)", false},
		{"booking", "Payment required at check-in. Your booking is confirmed.", false},
		{"invite", "User declined the invitation on 3 May", false},
		{"generate_name", "Oops! All Berries", false},
		{"user", "Bob is currently offline, last seen 10:00", false},
		{"get_current_project", "No current project", false},
		{"session", "No active session", false},
		{"history", "There was a problem with the bridge in 1912; it was rebuilt in 1914.", false},
		{"story", "The night something went wrong, a short story", false},
		{"sla", "Service unavailable: 0.02% of the time last month", false},
		{"stats", "Request aborted count: 2", false},
		{"lesson", "Division by zero: a short history", false},
		{"repo_info", "Not a git repository", false},
		{"docs", "# Error\n\nErrors are values in Go.", false},
		{"film", "# Missing\n\nA film of 1982.", false},
		{"deploy", "No errors. Deployment completed.", false},
	})
}

// TestFailuresAreKnownByHowTheyAreTold checks failures with a wording that is not among the recorded answers.
func TestFailuresAreKnownByHowTheyAreTold(t *testing.T) {
	t.Parallel()
	said(t, []saying{
		{"page", "[ERROR] no room for the page", true},
		{"page", "[draft] a page about rooms", false},
		{"page", "# Error\n\nThe page is not available.", true},
		{"page", "# Errors\n\nThis page is about them.", false},
		{"page", "Oops! Something went wrong with the page.", true},
		{"page", "Internal server error", true},
		{"page", "There was a problem loading the page", true},
		{"page", "There was a page about problems", false},
		{"page", "Service temporarily unavailable", true},
		{"page", "Division by zero", true},
		{"page", "No active session. Call open_session first.", true},
		{"page", "No changes were made: the page is up to date", false},
		{"page", "The message was saved, not sent.", false},
		{"page", "Unknown timezone: Moon/North", true},
		{"page", "Unknown Pleasures is an album of 1979", false},
		{"translate", "Unsupported target language: Moonish", true},
	})
}

// saying is the text of an answer, and whether it is a failure.
type saying struct {
	tool, text string
	failed     bool
}

func said(t *testing.T, all []saying) {
	t.Helper()
	for _, s := range all {
		if got := contract.Classify(answered(t, s.tool, `{}`, s.text)); got.Verdict.Failure() != s.failed {
			t.Errorf("%s says %.80q: %s by %s", s.tool, s.text, got.Verdict, got.Rule)
		}
	}
}

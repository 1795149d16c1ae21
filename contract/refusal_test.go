package contract_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// suspectedIn classifies a success of a tool with this text.
func suspectedIn(t *testing.T, tool, args, text string) contract.Conclusion {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	x, err := contract.ParseExchange(fmt.Appendf(nil, `{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}},`+
		`"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}]}}}`, tool, args, quoted))
	if err != nil {
		t.Fatal(err)
	}
	return contract.Classify(x)
}

const zodList = `[
  {
    "code": "invalid_type",
    "expected": "string",
    "received": "undefined",
    "path": [
      "address"
    ],
    "message": "Required"
  }
]`

// TestToolsOwnRefusalIsSuspectedWhateverTheToolIsCalled checks that a verb such as check or query in a tool's name does not excuse
// a refusal of the call itself. Such a verb only means that the answer may be about faults of something else.
func TestToolsOwnRefusalIsSuspectedWhateverTheToolIsCalled(t *testing.T) {
	for _, tool := range []string{"check_address", "verify_contract", "analyze_wallet", "query_graph", "get_price", "search_tokens", "validate_tx"} {
		for name, text := range map[string]string{
			"a validator's list":          "Error: " + zodList,
			"invalid arguments":           "Error occurred: Invalid arguments for tool " + tool + ": address is required",
			"a status and a body":         "Status code: 401\nBody: {\"message\":\"Unauthorized\"}",
			"a thrown error with status":  `{"name":"TooManyRequestsError","statusCode":429,"error":{"code":"rate_limited","message":"slow down"},"url":"/v1","method":"GET","headers":{},"retryable":true,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`,
			"an error page":               "<!DOCTYPE html>\n<html><head><title>500 Internal Server Error</title></head><body><h1>Oops</h1></body></html>",
			"a refused key":               "Error: API key is invalid or missing",
			"a failed request in a line":  "Error: Request failed with status code 503",
			"an unreachable service":      "Error: connect ECONNREFUSED 127.0.0.1:8545",
			"a failed request on a lines": "Error: Request failed with status code 503\n\nURL: /v1/price\nPlease try again later.",
		} {
			if got := suspectedIn(t, tool, `{"address":"0x12"}`, text); got.Verdict != contract.VerdictMasked || got.Certainty != contract.Suspected {
				t.Errorf("%s, %s: %s (%s)", tool, name, got.Verdict, got.Rule)
			}
		}
	}
}

// TestOrdinaryAnswersAboutErrorsAreClean checks answers that are about errors because the call asked for them.
func TestOrdinaryAnswersAboutErrorsAreClean(t *testing.T) {
	for _, c := range []struct{ tool, args, text string }{
		{"check_links", `{"url":"https://a.example"}`, "Status: 3 of 40 links are broken\n- /old: 404\n- /gone: 410"},
		{"check_syntax", `{"code":"if ("}`, "Error: line 1: unexpected end of input\nError: line 1: missing )"},
		{"lint_file", `{"path":"a.js"}`, "Error: 'x' is not defined (no-undef)\nWarning: unexpected console statement"},
		{"validate_json", `{"json":"{a}"}`, "Invalid JSON: Unexpected token a in position 1"},
		{"validate_schema", `{"document":"{}"}`, "Errors found: 2\n- title is required\n- id must be a number"},
		{"analyze_log", `{"path":"/var/log/app.log"}`, "3 errors found.\nError: connection refused (2 times)\nError: timeout (1 time)"},
		{"explain_error", `{"text":"ECONNREFUSED"}`, "Error codes such as this one mean that no process listens on the port."},
		{"get_status_codes", `{}`, "Status code: 404 means that a page was not found.\nStatus code: 500 means that the server failed."},
		{"fetch_page", `{"url":"https://httpstat.us/500"}`, "<!DOCTYPE html>\n<html><head><title>500 Internal Server Error</title></head><body></body></html>"},
		{"render_template", `{"name":"home"}`, "<!DOCTYPE html>\n<html><head><title>500 recipes for the winter</title></head><body></body></html>"},
		{"list_errors", `{}`, `[{"name":"TypeError","message":"x is undefined","count":3}]`},
		{"get_issue", `{"id":7}`, `{"id":7,"title":"Login fails with 401","state":"open","error":null}`},
		{"search_logs", `{"query":"error"}`, "2026-11-02 10:00 Error: Request failed with status code 503"},
		{"query_incidents", `{"query":"status"}`, `{"incidents":[{"name":"GatewayError","statusCode":502,"count":4}]}`},
	} {
		if got := suspectedIn(t, c.tool, c.args, c.text); got.Verdict != contract.VerdictClean {
			t.Errorf("%s: %q is suspected (%s)", c.tool, c.text, got.Rule)
		}
	}
}

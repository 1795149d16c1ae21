package contract_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// TestWhatIsNothingButAFailureIsOne checks payloads of failures without isError, each with its call.
func TestWhatIsNothingButAFailureIsOne(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tool, arguments, text string
		failed                      bool
	}{
		{"an error that is an empty text", "list_tasks", `{}`, `{"error":""}`, false},
		{"an error object that could not be written", "list_tasks", `{}`, `{"error":{}}`, true},
		{"an empty error beside data", "list_tasks", `{}`, `{"tasks":["one"],"error":""}`, false},
		{"an empty error beside a message", "list_tasks", `{}`, `{"error":"","message":"two tasks"}`, false},
		{"no error", "list_tasks", `{}`, `{"error":null}`, false},
		{"every file that was asked for is refused", "read_files", `{"paths":["a/one.txt"]}`, `[{"path":"a/one.txt","error":"outside of the folder"}]`, true},
		{"one file of two is refused", "read_files", `{"paths":["a/one.txt","a/two.txt"]}`, `[{"path":"a/one.txt","error":"outside of the folder"},{"path":"a/two.txt","content":"two"}]`, false},
		{"the content of a file is a list of errors", "read_file", `{"path":"log.json"}`, `[{"step":"build","error":"no compiler"}]`, false},
		{"all refused, twice about the same", "move_files", `{"paths":["one.txt","two.txt"]}`, `{"results":[{"file":"one.txt","error":"first try"},{"file":"one.txt","error":"second try"}]}`, false},
		{"payments that failed, of the one asked for", "get_payments", `{"customer":"alice"}`, `{"data":[{"customer":"alice","status":"failed","error":"card declined"}]}`, false},
		{"payments that failed, below a filter", "payments", `{"customer":"alice"}`, `{"data":[{"customer":"alice","status":"failed","error":"card declined"}]}`, false},
		{"jobs that failed, of those asked for", "get_jobs", `{"ids":["job-1"]}`, `{"items":[{"id":"job-1","status":"failed","error":"no memory"}]}`, false},
		{"tests that failed, as they were run", "run_tests", `{"suites":["login"]}`, `{"results":[{"suite":"login","success":false,"error":"3 is not 4"}]}`, false},
		{"what a linter found", "lint_file", `{"file":"one.go"}`, `[{"error":"not used: x"}]`, false},
		{"a message that the task is done", "close_issue", `{}`, `{"message":"Issue 12 has been closed."}`, false},
		{"a message that it is done to what was asked for", "archive_project", `{"name":"Moon base"}`, `{"message":"Moon base is archived"}`, false},
		{"the same message of another tool", "comment_issue", `{}`, `{"message":"Issue 12 has been closed."}`, true},
		{"a status word beside content", "list_rooms", `{}`, `{"status":"error","content":"Failed to fetch the details: Unprocessable Entity","metadata":{}}`, true},
		{"a status word beside a text", "list_rooms", `{}`, `{"status":"error","text":"could not list the rooms"}`, true},
		{"a message of a log", "get_entry", `{"id":7}`, `{"id":7,"status":"error","content":"disk full","at":"noon","host":"a","level":"high","tag":"b"}`, false},
		{"a report of failed tests", "list_tests", `{"suite":"unit"}`, `{"results":[{"test":"adds","status":"failed","message":"3 is not 4"}],"total":1}`, false},
	} {
		if got := contract.Classify(answered(t, tc.tool, tc.arguments, tc.text)); got.Verdict.Failure() != tc.failed {
			t.Errorf("%s: %s by %s", tc.name, got.Verdict, got.Rule)
		}
	}
}

// answered returns the exchange of a tool call that was answered with a text.
func answered(t *testing.T, tool, arguments, text string) *contract.Exchange {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	x, err := contract.ParseExchange(fmt.Appendf(nil, `{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}},`+
		`"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}]}}}`, tool, arguments, quoted))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

package contract_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// reading is a failure text of a tool, the call that it answers, and the expected code.
type reading struct {
	text string
	args string // the arguments; {} if empty
	take string // the properties of the tool's schema, as "name:type …"; none if empty
	code string
}

// read builds the recorded line and reads it as candor decode does.
func (r *reading) read(t *testing.T) contract.Reading {
	t.Helper()
	x, err := contract.ParseExchange(r.line(t))
	if err != nil {
		t.Fatal(err)
	}
	return contract.Read(x)
}

func (r *reading) line(t *testing.T) []byte {
	t.Helper()
	args := r.args
	if args == "" {
		args = "{}"
	}
	text, err := json.Marshal(r.text)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chart","arguments":%s}},`+
		`"response":{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":%s}]}},"tool":{"name":"chart","inputSchema":%s}}`,
		args, text, schemaOf(r.take))
}

// schemaOf returns the schema for a list such as "path:string limit:number". A name with "!" is required.
func schemaOf(take string) []byte {
	properties, required := map[string]any{}, []string{}
	for _, field := range fields(take) {
		properties[field.name] = map[string]string{"type": field.kind}
		if field.required {
			required = append(required, field.name)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return schema
}

func checkReadings(t *testing.T, list []reading) {
	t.Helper()
	for _, r := range list {
		t.Run(r.text[:min(len(r.text), 50)], func(t *testing.T) {
			got := r.read(t)
			if got.Error == nil || got.Error.Code().Symbol() != r.code {
				t.Errorf("%q with %s read as %v, want %s", r.text, r.args, got.Error, r.code)
			}
		})
	}
}

// TestArgumentValuesDoNotDecideTheCode checks that words from the call are not evidence.
func TestArgumentValuesDoNotDecideTheCode(t *testing.T) {
	checkReadings(t, []reading{
		{"File not found at 'missing.pdf'", `{"file":"missing.pdf"}`, "file:string!", "FILE_NOT_FOUND"},
		{"Path not in allowed list: /nonexistent/x", `{"path":"/nonexistent/x"}`, "path:string!", "PERMISSION_DENIED"},
		{`"zz-does-not-exist" is not valid JSON`, `{"data":"zz-does-not-exist"}`, "data:string!", "INVALID_ARGUMENTS"},
		{"Could not save rate limit exceeded.txt: something happened", `{"name":"rate limit exceeded.txt"}`, "name:string!", "UNKNOWN_TOOL_FAILURE"},
		{"Failed to process https://example.com/404-not-found/timeout", `{"url":"https://example.com/404-not-found/timeout"}`, "url:string!", "UNKNOWN_TOOL_FAILURE"},
		{"Could not translate 'HTTP 401 Unauthorized'", `{"text":"HTTP 401 Unauthorized"}`, "text:string!", "UNKNOWN_TOOL_FAILURE"},
		{"Could not summarise: ECONNREFUSED is all over the log", `{"text":"ECONNREFUSED is all over the log"}`, "text:string!", "UNKNOWN_TOOL_FAILURE"},
		{"Cannot render chart for /home/u/permission-denied/missing/file.csv", `{"id":7}`, "id:number!", "UNKNOWN_TOOL_FAILURE"},
	})
}

// TestOnlyArgumentsOfTheToolAreIssues checks that a name in a sentence is an argument only if the tool has it.
func TestOnlyArgumentsOfTheToolAreIssues(t *testing.T) {
	for _, r := range []reading{
		{"Could not find field 'records' in the reply of the vault", `{"vault":"a"}`, "vault:string!", ""},
		{"Invalid parameter: 'available_vaults' must be an array", `{"vault":"a"}`, "vault:string!", ""},
		{"'ECharts' is required", `{"title":"a"}`, "title:string!", ""},
		{"slug is required", `{"title":"a"}`, "title:string!", ""},
		{"title is required", `{}`, "title:string!", "/title"},
		{"Unknown parameter: titel", `{"titel":"a"}`, "title:string", "/titel"},
		{"MCP error -32602: Invalid arguments: Required at params", `{}`, "params:object!", "/params"},
	} {
		got := r.read(t)
		path := ""
		if issues := got.Error.Details().Issues(); len(issues) > 0 {
			path = issues[0].Path
		}
		if path != r.code {
			t.Errorf("%q names %q, want %q", r.text, path, r.code)
		}
		if got.Error.Code().Symbol() == "INVALID_REQUEST_PARAMS" {
			t.Errorf("%q blames the request around the arguments", r.text)
		}
	}
}

// TestBlameOfArgumentsNeedsAnArgument checks that the caller is blamed only if an argument does not fit or is named.
func TestBlameOfArgumentsNeedsAnArgument(t *testing.T) {
	checkReadings(t, []reading{
		{"Invalid URL", `{"title":"a"}`, "title:string", "CONFIG_INVALID"},
		{"Invalid URL", `{"url":"a"}`, "url:string!", "INVALID_ARGUMENTS"},
		{"Invalid project ID", `{"projectId":"a"}`, "projectId:string!", "INVALID_ARGUMENTS"},
		{"Not a valid harbour: Atlantis", `{"where":"Atlantis"}`, "where:string!", "INVALID_ARGUMENTS"},
		{"The state is invalid", `{"title":"a"}`, "title:string!", "UNKNOWN_TOOL_FAILURE"},
		{"The state is invalid", `{"title":{}}`, "title:string!", "INVALID_ARGUMENTS"},
		{"Cannot read properties of undefined (reading 'map')", `{"title":"a"}`, "title:string!", "INTERNAL_ERROR"},
		{"Cannot read properties of undefined (reading 'map')", `{}`, "title:string!", "INVALID_ARGUMENTS"},
		{"Missing API key", `{"title":"a"}`, "title:string!", "CONFIGURATION_MISSING"},
		{"API key is missing", `{"apiKey":""}`, "apiKey:string", "INVALID_ARGUMENTS"},
	})
}

// TestOthersHaveNumbersAndNamesToo checks that numbers from 1000 on are not always Candor's, and that names in a validator's list
// are not always arguments of the call.
func TestOthersHaveNumbersAndNamesToo(t *testing.T) {
	checkReadings(t, []reading{
		{"MCP error 1004: Failed to stop job 7 (Status: 503) Details: upstream connect error", `{"job":"7"}`, "job:string!", "UPSTREAM_UNAVAILABLE"},
		{"MCP error 1001: Failed to fetch jobs (Status: 403)", `{}`, "job:string", "UPSTREAM_FORBIDDEN"},
		{`[{"code":"invalid_type","expected":"string","path":["name"],"message":"Invalid input: expected string, received undefined"},` +
			`{"code":"invalid_type","expected":"boolean","path":["mayShare"],"message":"Invalid input: expected boolean, received undefined"}]`,
			`{"name":"a"}`, "name:string!", "UPSTREAM_BAD_RESPONSE"},
		{"No set-cookie header present in the response. Something must have changed, please report.", `{"q":"a"}`, "q:string!", "UNKNOWN_TOOL_FAILURE"},
		{"json: cannot unmarshal number into Go struct field .User of type string", `{"user":7}`, "user:string!", "INVALID_ARGUMENTS"},
		{`Error: {"error":"internal_server_error","message":"Something went wrong on our side."}`, `{"q":"a"}`, "q:string!", "UPSTREAM_ERROR"},
	})
}

// TestStatusBeatsWords checks that a status from a service outweighs the words around it.
func TestStatusBeatsWords(t *testing.T) {
	checkReadings(t, []reading{
		{"HTTP 401: Invalid API key provided", "", "", "UPSTREAM_UNAUTHENTICATED"},
		{"Request failed with status code 404: please sign in to see more", "", "", "UPSTREAM_NOT_FOUND"},
		{"API error 503: invalid parameter", "", "", "UPSTREAM_UNAVAILABLE"},
		{`HTTP 429 {"error":{"code":"invalid_request_error","message":"slow down"}}`, "", "", "UPSTREAM_RATE_LIMITED"},
		{"GitHub API error 403: API rate limit exceeded for user", "", "", "UPSTREAM_RATE_LIMITED"},
		{"connect ECONNREFUSED 127.0.0.1:5432, check your credentials", "", "", "UPSTREAM_UNREACHABLE"},
	})
}

// TestSystemErrorIsReadWithItsVerb checks that ENOENT is read as a file, a program or a socket by the verb beside it.
func TestSystemErrorIsReadWithItsVerb(t *testing.T) {
	checkReadings(t, []reading{
		{"spawn bw ENOENT", "", "", "DEPENDENCY_MISSING"},
		{"Failed to list items: Error: spawn /usr/local/bin/op ENOENT", "", "", "DEPENDENCY_MISSING"},
		{`fork/exec /usr/bin/git: no such file or directory`, "", "", "DEPENDENCY_MISSING"},
		{`exec: "docker": executable file not found in $PATH`, "", "", "DEPENDENCY_MISSING"},
		{"[Errno 2] No such file or directory: 'notes'", `{"path":"notes"}`, "path:string!", "FILE_NOT_FOUND"},
		{"ENOENT: no such file or directory, open '/tmp/a.txt'", `{"path":"/tmp/a.txt"}`, "path:string!", "FILE_NOT_FOUND"},
		{"dial unix /var/run/docker.sock: connect: no such file or directory", "", "", "UPSTREAM_UNREACHABLE"},
		{"Executable doesn't exist at /srv/browsers/chromium-1200/chrome", "", "", "DEPENDENCY_MISSING"},
		{"Could not locate the bindings file. Tried: build/better_sqlite3.node", "", "", "DEPENDENCY_MISSING"},
		{"No module named 'pandas'", "", "", "DEPENDENCY_MISSING"},
	})
}

// TestExplainNamesTheEvidenceThatDecided compares the evidence of Explain with the code of Read.
func TestExplainNamesTheEvidenceThatDecided(t *testing.T) {
	for _, c := range []struct {
		reading
		kind string
	}{
		{reading{text: "HTTP 401: Invalid API key provided"}, "status"},
		{reading{text: "spawn bw ENOENT"}, "errno"},
		{reading{text: "title is required", take: "title:string!"}, "fields"},
		{reading{text: "Unable to connect to the database"}, "words"},
		{reading{text: "Unknown error"}, "none"},
		{reading{text: "FILE_NOT_FOUND: a"}, "code"},
	} {
		x, err := contract.ParseExchange(c.line(t))
		if err != nil {
			t.Fatal(err)
		}
		var decided []contract.Evidence
		for _, e := range contract.Explain(x) {
			if e.Decided {
				decided = append(decided, e)
			}
		}
		if len(decided) != 1 || decided[0].Kind != c.kind || decided[0].Why == "" || decided[0].Code != contract.Read(x).Error.Code() {
			t.Errorf("%q: decided by %+v, want %s", c.text, decided, c.kind)
		}
	}
}

// TestWeakWordsAreOnlyListed checks that words that fit several codes are in the evidence and do not decide.
func TestWeakWordsAreOnlyListed(t *testing.T) {
	for _, text := range []string{"'zz top' is not a supported kind", "'zz top' does not appear in that line", "'zz top' is bad. Available versions: 2, 3"} {
		r := reading{text, `{"kind":"zz top"}`, "kind:string", "UNKNOWN_TOOL_FAILURE"}
		checkReadings(t, []reading{r})
		x, err := contract.ParseExchange(r.line(t))
		if err != nil {
			t.Fatal(err)
		}
		if e := contract.Explain(x); len(e) != 2 || e[0].Strength != "weak" || e[0].Code != candor.CodeInvalidArguments || e[0].Decided {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

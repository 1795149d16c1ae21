package decodecmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/dialect"
)

// translate runs the command on standard input and returns its output and what it reports.
func translate(t *testing.T, variables map[string]string, in string, args ...string) (out, report string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &term.Env{
		In: strings.NewReader(in), Out: term.NewOutput(&stdout, false), Err: &stderr,
		Getenv: func(name string) string { return variables[name] }, Now: func() time.Time { return time.Unix(0, 0) },
	}
	cmd := NewTranslate(env)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		stderr.WriteString(err.Error())
	}
	_ = env.Out.Flush() // a buffer takes everything
	return stdout.String(), stderr.String()
}

const (
	full = `{"code":"PLAN_NOT_APPROVED","class":"precondition","message":"Plan 3f9a has status DRAFT","retry":{"kind":"not_retryable"},"suggestion":"Ask for approval of the plan.","details":{"issues":[{"path":"/plan","rule":"approved","message":"is not approved"}],"n":1.50},"domain":"kaiza","number":3222,"origin":{"by":"tool","inferred":false},"ref":"01J9Z3Q8V4K7M2N6P0R5S1T8WX","tool":"write_file","role":"WINDSURF","session_id":"s-1","workspace_root":"/srv/shop","invariant_id":"INV-1","phase_id":"P2","plan_hash":"3f9a","cause":{"message":"header says DRAFT","code":"EPLAN","name":"PlanError"},"timestamp":"2025-12-31T23:59:59.123Z","stack":"main.write (write.go:12)\nmain.call (call.go:7)"}`
	rpc  = `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":2100,"message":"Navigation failed","data":{"domain":"playwright","symbol":"E_PW_NAV","retryable":true}}}`
	bare = `{"code":"VALIDATION_ERROR","message":"The input is not valid.","retry":{"kind":"not_retryable"}}`
)

// TestTranslateThereAndBackIsTheSame goes from every dialect to every other and back.
func TestTranslateThereAndBackIsTheSame(t *testing.T) {
	stacks := map[string]string{"DEBUG_STACK": "true", "MCP_ERRORS_VERBOSE": "full"}
	step := func(from, to, in string) string {
		out, report := translate(t, stacks, in, "--from", from, "--to", to)
		if report != "" {
			t.Fatalf("%s to %s: %s", from, to, report)
		}
		return out
	}
	for _, a := range dialect.Names() {
		want := step("auto", a, full)
		for _, b := range dialect.Names() {
			if got := step(b, a, step(a, b, want)); got != want {
				t.Errorf("%s to %s and back:\n got %s\nwant %s", a, b, got, want)
			}
		}
	}
}

func TestTranslateWritesTheTargetDialect(t *testing.T) {
	const at = "2026-01-02T15:04:05Z"
	verbose := map[string]string{"MCP_ERRORS_VERBOSE": "1"}
	for name, c := range map[string]struct {
		variables  map[string]string
		in, args   string
		want, less string // regular expressions
	}{
		"keeps the id as it is written": {in: rpc, args: "--to tool-error",
			want: `^\{"jsonrpc":"2\.0","id":9007199254740993,"result":\{"content":\[\{"type":"text","text":"\{\\"code\\":\\"E_PW_NAV\\".*"ref":"c-[0-9a-f]{12}"`},
		"gives a time":              {in: bare, args: "--from tool-error --to candor --at " + at, want: `"timestamp":"2026-01-02T15:04:05\.000Z"`},
		"keeps time and reference":  {in: full, args: "--to rpc --at " + at, want: `"ref":"01J9Z3Q8V4K7M2N6P0R5S1T8WX".*"timestamp":"2025-12-31T23:59:59\.123Z"`, less: `"stack"`},
		"keeps a stack if asked":    {variables: verbose, in: full, args: "--to rpc", want: `"workspace_root":"/srv/shop".*"stack"`},
		"mirrors for system-error":  {in: full, args: "--to system-error", want: `"structuredContent":\{"error_code":`},
		"mirrors not for others":    {in: full, args: "--to tool-error", want: "PLAN_NOT_APPROVED", less: "structuredContent"},
		"reads a number as decode":  {in: `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"dial tcp 10.0.4.17:5432: connect: connection refused"}}`, args: "--to rpc", want: "UPSTREAM_UNREACHABLE"},
		"reads a failure in none":   {in: `{"content":[{"type":"text","text":"Request timed out"}],"isError":true}`, args: "--to system-error", want: `error_code\\"`},
		"reads each line by itself": {in: rpc + "\nnonsense\n" + full + "\n", args: "--to candor", want: `(?s)E_PW_NAV.*PLAN_NOT_APPROVED`},
	} {
		out, _ := translate(t, c.variables, c.in, strings.Fields(c.args)...)
		if !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("%s: want %s in\n%s", name, c.want, out)
		}
		if c.less != "" && regexp.MustCompile(c.less).MatchString(out) {
			t.Errorf("%s: %s is in\n%s", name, c.less, out)
		}
	}
}

func TestTranslateReportsWhatItCannotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "envelope.json")
	if err := os.WriteFile(file, []byte(bare), 0o600); err != nil {
		t.Fatal(err)
	}
	success := `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Error: 429 Too Many Requests"}]}}`
	for name, c := range map[string]struct{ in, args, want string }{
		"no target":        {full, "", "--to: missing"},
		"unknown target":   {full, "--to tool_error", `unknown --to "tool_error"`},
		"unknown source":   {full, "--from xml --to rpc", `unknown --from "xml"`},
		"not a time":       {full, "--to rpc --at yesterday", `--at "yesterday": not a time`},
		"no such file":     {"", "--to rpc " + file + ".none", "no such file"},
		"two files":        {"", "--to rpc a b", `too many arguments: "b"`},
		"another dialect":  {"", "--from system-error --to rpc " + file, "envelope.json: line 1: reading system-error: "},
		"only suspected":   {success, "--to rpc", "line 1: not an error in any dialect, and not a response that is marked as failed"},
		"not JSON":         {"{}\nnonsense", "--to rpc", "line 2: not JSON: "},
		"cut":              {`{"ok":false,"error":{"code":`, "--to rpc", "line 1: not JSON: the bytes end inside a value"},
		"class not of it":  {strings.Replace(full, `"precondition"`, `"internal"`, 1), "--to rpc", `reading candor: class "internal" is not that of`},
		"several on a row": {bare + bare, "--to rpc", "more than one value"},
	} {
		_, report := translate(t, nil, c.in, strings.Fields(c.args)...)
		if !strings.Contains(report, c.want) {
			t.Errorf("%s: got %q, want %q", name, report, c.want)
		}
	}
	if _, report := translate(t, map[string]string{"MCP_ERRORS_VERBOSE": "many"}, full, "--to", "rpc"); !strings.Contains(report, `MCP_ERRORS_VERBOSE "many"`) {
		t.Errorf("a bad variable: %q", report)
	}
}

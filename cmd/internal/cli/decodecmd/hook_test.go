package decodecmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/dialect"
)

// hook runs the command for a client and returns its output and what it reports. It fails if the exit code would not be 0.
func hook(t *testing.T, client, event string) (out, report string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &term.Env{In: strings.NewReader(event), Out: term.NewOutput(&stdout, false), Err: &stderr}
	cmd := NewHook(env)
	cmd.SetArgs([]string{client})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if err := env.Out.Flush(); err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String()
}

func TestHookAddsTheBlock(t *testing.T) {
	t.Parallel()
	const wait = `UPSTREAM_RATE_LIMITED: 429 Too Many Requests, retry-after: 30\nRetry: after 30000 ms`
	for _, c := range []struct{ client, event, want string }{
		{"claude", `{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PostToolUseFailure","tool_name":"WebFetch","tool_input":{"url":"https://h"},"tool_use_id":"u","error":"429 Too Many Requests, retry-after: 30","is_interrupt":false}`,
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"` + wait + `"}}`},
		{"copilot", `{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"web_fetch","toolArgs":{"url":"https://h"},"error":"429 Too Many Requests, retry-after: 30"}`,
			`{"additionalContext":"` + wait + `"}`},
		{"copilot", `{"hook_event_name":"PostToolUseFailure","tool_name":"mcp__shop__buy","tool_input":{},"error":"MCP error -32603: fetch failed"}`,
			`{"additionalContext":"UPSTREAM_UNREACHABLE: fetch failed\nRetry: not before checking whether the call took effect"}`},
	} {
		out, report := hook(t, c.client, c.event)
		if out != c.want+"\n" || report != "" {
			t.Errorf("%s\nprinted  %s\nwant     %s\nreported %s", c.event, out, c.want, report)
		}
	}
}

func TestHookPrintsNothingWithoutAnythingToAdd(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]string{
		`{"tool_name":"Bash","error":"it broke"}`:                                    "",
		`{"tool_name":"Bash","error":"fetch failed","is_interrupt":true}`:            "",
		`{"tool_name":"Bash"}`:                                                       "the event has no error",
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","error":"fetch failed"}`: `"PreToolUse" is not the event of a failed call`,
		`{"tool_name":"Bash","error":7}`:                                             "the event is not JSON",
		`{"tool_name":`:                                                              "the event is not JSON",
		``:                                                                           "the event is not JSON",
		`{"error":"fetch failed","x":"` + strings.Repeat("x", maxLine) + `"}`: "longer than 16 MiB",
	} {
		out, report := hook(t, "claude", event)
		if out != "" || (report == "") != (want == "") || !strings.Contains(report, want) {
			t.Errorf("%.80s: printed %q, reported %q, want %q", event, out, report, want)
		}
	}
}

// TestHookLeavesOwnBlocksAlone gives the hook what a wrapped server's client shows, with lines and joined.
func TestHookLeavesOwnBlocksAlone(t *testing.T) {
	t.Parallel()
	for _, retry := range []candor.Retry{candor.NoRetry(), candor.RetryNow(), candor.RetryIn(2 * time.Second)} {
		block := string(dialect.AppendText(nil, candor.New(candor.CodeUpstreamUnreachable, "fetch failed", candor.WithRetry(retry))))
		for _, text := range []string{block, "MCP error -32603: " + block + "fetch failed", strings.ReplaceAll(block, "\n", " ")} {
			event, err := json.Marshal(map[string]string{"tool_name": "mcp__shop__buy", "error": text})
			if err != nil {
				t.Fatal(err)
			}
			if out, report := hook(t, "claude", string(event)); out+report != "" {
				t.Errorf("%q: printed %q, reported %q", text, out, report)
			}
		}
	}
}

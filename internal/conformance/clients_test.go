package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/conformance"
)

// call is one call of a tool, and what its application must be able to read.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`

	wantCode  string // "" is a success
	wantRetry string
	wantAfter int64
	wantText  string // in the first block, besides code
	thrown    int    // the JSON-RPC code, for what is no failure of a tool
}

func (c call) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"name": c.Name, "arguments": c.Arguments})
}

// calls are made by every client. A tool's failure must never be thrown; that no such tool exists must.
func calls() []call {
	good := map[string]any{"path": "a"}
	var all []call
	for _, suffix := range []string{"", schemaSuffix} {
		all = append(all,
			call{Name: "works" + suffix, Arguments: good},
			call{Name: "plain" + suffix, Arguments: good, wantCode: "INTERNAL_ERROR", wantRetry: "not_retryable", wantText: "disk on fire"},
			call{Name: "limited" + suffix, Arguments: good, wantCode: "RATE_LIMITED", wantRetry: "retryable_after_ms", wantAfter: 1500,
				wantText: "one call in two seconds, please"},
			call{Name: "wrapped" + suffix, Arguments: good, wantCode: "NOT_FOUND", wantRetry: "not_retryable", wantText: "there is no such book"},
			call{Name: "panics" + suffix, Arguments: good, wantCode: "INTERNAL_ERROR", wantRetry: "not_retryable"},
			call{Name: "works" + suffix, Arguments: map[string]any{"path": 5}, wantCode: "INVALID_ARGUMENTS", wantRetry: "not_retryable",
				wantText: "/path"},
		)
	}
	return append(all, call{Name: "no_such_tool", Arguments: good, wantCode: "TOOL_NOT_FOUND", wantRetry: "not_retryable", thrown: jsonrpc.CodeInvalidParams})
}

// sight is what an application sees of one call.
type sight struct {
	Tool       string          `json:"tool"`
	IsError    bool            `json:"isError"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	Thrown     *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"thrown"`
	Error *canonical `json:"error"`
}

// canonical is as much of the error as an application needs to decide what to do.
type canonical struct {
	Code  string `json:"code"`
	Retry struct {
		Kind    string `json:"kind"`
		AfterMs int64  `json:"afterMs"`
	} `json:"retry"`
}

// door is where a client finds the server: behind an address, or as a command to start.
type door struct {
	url     string
	command []string
}

func stdio() door { return door{command: []string{os.Args[0]}} }

func TestGoClientReadsEveryError(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version+"/stdio", func(t *testing.T) { judge(t, lookGo(t, version, stdio())) })
		t.Run(version+"/http", func(t *testing.T) { judge(t, lookGo(t, version, door{url: serveHTTP(t)})) })
	}
}

func TestTypeScriptV1ClientReadsEveryError(t *testing.T) {
	look := scripts(t, conformance.ClientV1, "v1.mjs")
	t.Run("stdio", func(t *testing.T) { judge(t, look(t, stdio())) })
	t.Run("http", func(t *testing.T) { judge(t, look(t, door{url: serveHTTP(t)})) })
}

func TestTypeScriptV2ClientReadsEveryError(t *testing.T) {
	legacy := scripts(t, conformance.ClientV2, "v2.mjs", "PROTOCOL=")
	t.Run("2025-11-25/stdio", func(t *testing.T) { judge(t, legacy(t, stdio())) })
	t.Run("2025-11-25/http", func(t *testing.T) { judge(t, legacy(t, door{url: serveHTTP(t)})) })
	modern := scripts(t, conformance.ClientV2, "v2.mjs", "PROTOCOL=2026-07-28")
	t.Run("2026-07-28/stdio", func(t *testing.T) { judge(t, modern(t, stdio())) })
	t.Run("2026-07-28/http", func(t *testing.T) { judge(t, modern(t, door{url: serveHTTP(t)})) })
}

func judge(t *testing.T, seen []sight) {
	t.Helper()
	wanted := calls()
	if len(seen) != len(wanted) {
		t.Fatalf("%d calls made, %d outcomes seen", len(wanted), len(seen))
	}
	for i, want := range wanted {
		t.Run(want.Name, func(t *testing.T) { judgeOne(t, want, seen[i]) })
	}
}

func judgeOne(t *testing.T, want call, got sight) {
	t.Helper()
	if want.wantCode == "" {
		if got.Thrown != nil || got.IsError || got.Error != nil || got.Text == "" {
			t.Errorf("a success was seen as %+v", got)
		}
		return
	}
	switch {
	case want.thrown == 0 && got.Thrown != nil:
		t.Fatalf("a tool's failure was thrown: %+v", *got.Thrown)
	case want.thrown != 0 && (got.Thrown == nil || got.Thrown.Code != want.thrown):
		t.Fatalf("want %d thrown, got %+v", want.thrown, got)
	case want.thrown == 0 && !got.IsError:
		t.Error("isError is not set")
	}
	if got.Error == nil {
		t.Fatalf("the application cannot read the error: %+v", got)
	}
	if got.Error.Code != want.wantCode || got.Error.Retry.Kind != want.wantRetry || got.Error.Retry.AfterMs != want.wantAfter {
		t.Errorf("read %+v, want code %s, retry %s %d", *got.Error, want.wantCode, want.wantRetry, want.wantAfter)
	}
	if want.thrown == 0 && (!strings.Contains(got.Text, want.wantCode) || !strings.Contains(got.Text, want.wantText)) {
		t.Errorf("the first block is %q, want %s and %q in it", got.Text, want.wantCode, want.wantText)
	}
	judgeStructured(t, want, got)
}

// judgeStructured holds the rule that the error is mirrored into structuredContent, but not where it would break the tool's own
// output schema: the first generation of the TypeScript client checks it even then, and throws away the real error.
func judgeStructured(t *testing.T, want call, got sight) {
	t.Helper()
	mirrored := want.thrown == 0 && !strings.HasSuffix(want.Name, schemaSuffix)
	if !mirrored {
		if len(got.Structured) > 0 {
			t.Errorf("structuredContent breaks the tool's own output schema: %s", got.Structured)
		}
		return
	}
	if c := readCanonical(t, got.Structured); c == nil || *c != *got.Error {
		t.Errorf("structuredContent is %s, want the same error as in _meta", got.Structured)
	}
}

// scripts prepares a client of the clients folder beside its package and returns what runs it.
func scripts(t *testing.T, p conformance.Package, script string, env ...string) func(*testing.T, door) []sight {
	t.Helper()
	box, err := conformance.OpenToolbox()
	okOrSkip(t, err)
	command, err := box.Stage(t.Context(), p, t.TempDir(), filepath.Join("clients", script), filepath.Join("clients", "look.mjs"))
	okOrSkip(t, err)
	return func(t *testing.T, d door) []sight {
		t.Helper()
		wanted, err := json.Marshal(calls())
		if err != nil {
			t.Fatal(err)
		}
		args := append(slices.Clone(command[1:]), string(wanted))
		if d.url != "" {
			args = append(args, "http", d.url)
		} else {
			args = append(append(args, "stdio"), d.command...)
		}
		cmd := exec.CommandContext(t.Context(), command[0], args...)
		cmd.Env = append(serveEnvironment(), env...)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, complaints.Bytes())
		}
		var seen []sight
		if err := json.Unmarshal(out, &seen); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return seen
	}
}

// toolOrSkip returns Node and the folder of a package, or says what is missing.
func toolOrSkip(t *testing.T, p conformance.Package) (node, modules string) {
	t.Helper()
	box, err := conformance.OpenToolbox()
	if err == nil {
		node, err = box.Node(t.Context())
	}
	if err == nil {
		modules, err = box.Modules(p)
	}
	okOrSkip(t, err)
	return node, modules
}

// okOrSkip skips the test if something is not installed, and says what.
func okOrSkip(t *testing.T, err error) {
	t.Helper()
	if missing := (*conformance.MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func lookGo(t *testing.T, version string, d door) []sight {
	t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: d.url}
	if d.url == "" {
		cmd := exec.CommandContext(t.Context(), d.command[0], d.command[1:]...)
		cmd.Env = serveEnvironment()
		transport = &mcp.CommandTransport{Command: cmd}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "look-go", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var seen []sight
	for _, c := range calls() {
		seen = append(seen, outcomeGo(t.Context(), t, session, c))
	}
	return seen
}

func outcomeGo(ctx context.Context, t *testing.T, session *mcp.ClientSession, c call) sight {
	t.Helper()
	seen := sight{Tool: c.Name}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		seen.Thrown = &struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}{Message: err.Error()}
		if e := (*jsonrpc.Error)(nil); errors.As(err, &e) {
			seen.Thrown.Code = int(e.Code)
			var data map[string]json.RawMessage
			if json.Unmarshal(e.Data, &data) == nil {
				seen.Error = readCanonical(t, data[dialect.MetaKey])
			}
		}
		return seen
	}
	seen.IsError = result.IsError
	if text, ok := result.Content[0].(*mcp.TextContent); ok {
		seen.Text = text.Text
	}
	if result.StructuredContent != nil {
		seen.Structured = reencode(t, result.StructuredContent)
	}
	if found, ok := result.Meta[dialect.MetaKey]; ok {
		seen.Error = readCanonical(t, reencode(t, found))
	}
	return seen
}

func readCanonical(t *testing.T, raw json.RawMessage) *canonical {
	t.Helper()
	if raw == nil {
		return nil
	}
	var c canonical
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return &c
}

func reencode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// The tests in this file put candor wrap in front of a server that replays recorded answers, and compare what the host of each client
// shows its model with candor preview. The hosts are written here from the sources in spec/clients.json, without the code of preview.

const replayVariable = "CANDOR_TEST_REPLAY_SERVER" // names the file with the answers

// answer is an answer to tools/call as an SDK gives it to a host.
type answer struct {
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
	}
	Error *struct{ Message string }

	whole string // the result
}

// hosts has what each client shows of a result. All of them show only the message of a JSON-RPC error.
var hosts = map[string]func(*answer) string{
	"claude-code": first, "crewai": first, "other": first,
	"vscode": structuredFirst, "codex": structuredFirst, "copilot-cli": structuredFirst, "cursor": structuredFirst, "fast-agent": structuredFirst,
	"mastra": structuredFirst, "zed": texts(""), "gemini-cli": func(a *answer) string { return a.whole },
	"ai-sdk": texts("\n"), "openai-agents": texts("\n"), "langchain-python": texts("\n"), "langchain-js": texts("\n"), "pydantic-ai": texts("\n"), "goose": texts("\n"),
}

func first(a *answer) string { return a.Result.Content[0].Text }

func texts(separator string) func(*answer) string {
	return func(a *answer) string {
		var all []string
		for _, block := range a.Result.Content {
			all = append(all, block.Text)
		}
		return strings.Join(all, separator)
	}
}

func structuredFirst(a *answer) string {
	if a.Result.StructuredContent != nil {
		return string(a.Result.StructuredContent)
	}
	return texts("\n")(a)
}

func (a *answer) shownBy(host string) string {
	if a.Error != nil {
		return a.Error.Message
	}
	return hosts[host](a)
}

// replayed is a recorded exchange.
type replayed struct {
	Request  struct{ Params conformance.Call }
	Response map[string]json.RawMessage
}

const recordedFile = "../../../contract/testdata/answers.jsonl"

func readAnswers(file string) (all []replayed, err error) {
	data, err := os.ReadFile(file)
	for line := range bytes.Lines(data) {
		var r replayed
		err = errors.Join(err, json.Unmarshal(line, &r))
		all = append(all, r)
	}
	return all, err
}

func recordedAnswers(t testing.TB) []replayed {
	t.Helper()
	all, err := readAnswers(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// replay is a server on stdin and stdout whose tools give the recorded answers in a file.
func replay(file string, in io.Reader, out io.Writer) {
	all, err := readAnswers(file)
	if err != nil {
		panic(err)
	}
	answers := map[string]map[string]json.RawMessage{}
	var tools []map[string]any
	for _, r := range all {
		answers[r.Request.Params.Name] = r.Response
		tools = append(tools, map[string]any{"name": r.Request.Params.Name, "inputSchema": map[string]string{"type": "object"},
			"outputSchema": map[string]any{"type": "object", "required": []string{"data"}}}) // no structuredContent of a failure matches it
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			reply["result"] = map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "replay", "version": "1"}}
		case "tools/list":
			reply["result"] = map[string]any{"tools": tools}
		case "tools/call":
			for name, member := range answers[m.Params.Name] {
				if name != "id" {
					reply[name] = member
				}
			}
		default:
			reply["error"] = map[string]any{"code": jsonrpc.CodeMethodNotFound, "message": "no such method"}
		}
		if err := json.NewEncoder(out).Encode(reply); err != nil {
			return
		}
	}
}

// wrapped is a way to the server through candor wrap, with its own ledger.
type wrapped struct {
	candor, ledger string
	door           conformance.Door
}

func wrap(t *testing.T, candor string, flags ...string) wrapped {
	t.Helper()
	file, err := filepath.Abs(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	w := wrapped{candor: candor, ledger: filepath.Join(t.TempDir(), "ledger")}
	command := slices.Concat([]string{candor, "wrap", "--ledger", w.ledger}, flags, []string{"--", os.Args[0]})
	w.door = conformance.Door{Command: command, Env: []string{replayVariable + "=" + file, "GORACE=" + os.Getenv("GORACE") + " atexit_sleep_ms=0"}}
	return w
}

func (w wrapped) command(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.door.Command[0], w.door.Command[1:]...)
	cmd.Env = append(os.Environ(), w.door.Env...)
	return cmd
}

// previews returns what candor preview says that each client shows of the failures of each tool.
func (w wrapped) previews(t *testing.T) map[string]map[string]string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), w.candor, "ledger", "tail", w.ledger, "--kind", "failure", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for line := range bytes.Lines(list) {
		var entry struct{ Ref, Tool string }
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), w.candor, "preview", "--ledger", w.ledger, "--json", entry.Ref).Output()
		var p struct {
			Views []struct {
				Clients []string
				Bytes   int
				Text    string
			}
		}
		if err = errors.Join(err, json.Unmarshal(out, &p)); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all[entry.Tool] = map[string]string{}
		for _, v := range p.Views {
			if v.Bytes != len(v.Text) {
				t.Errorf("%s: %d bytes, want %d", entry.Tool, v.Bytes, len(v.Text))
			}
			for _, name := range v.Clients {
				all[entry.Tool][name] = anyRef(v.Text)
			}
		}
	}
	return all
}

// anyRef replaces the ref, which is another one in each session.
func anyRef(text string) string { return refs.ReplaceAllString(text, "REF") }

var refs = regexp.MustCompile(`[0-9a-f]{20}`)

// TestHostsShowWhatPreviewSays has a scripted host for each row of spec/clients.json. What it shows must equal the preview of its own
// session, and that which the session of every other client gives for it.
func TestHostsShowWhatPreviewSays(t *testing.T) {
	t.Parallel()
	candor := buildCandor(t)
	calls := recordedAnswers(t)
	shown, previews := map[string]map[string]string{}, map[string]map[string]map[string]string{}
	for _, c := range append(slices.Clone(contract.Clients()), contract.Client{Name: "other"}) {
		if hosts[c.Name] == nil {
			t.Errorf("%s has no host in this test", c.Name)
			continue
		}
		var flags []string
		named := "look"
		if len(c.ClientInfo) > 0 {
			named = strings.TrimSuffix(c.ClientInfo[0], "*")
		} else if c.Name != "other" {
			flags = []string{"--client", c.Name}
		}
		w := wrap(t, candor, flags...)
		shown[c.Name] = map[string]string{}
		for i, a := range converse(t, w.command(t), named, calls) {
			shown[c.Name][calls[i].Request.Params.Name] = anyRef(a.shownBy(c.Name))
		}
		previews[c.Name] = w.previews(t)
	}
	for session, byTool := range previews {
		for host, texts := range shown {
			for tool, text := range texts {
				if got := byTool[tool][host]; got != text || text == "" {
					t.Errorf("%s of %s, in the session of %s: preview says\n%s\nthe host shows\n%s", tool, host, session, got, text)
				}
			}
		}
	}
}

// converse makes the calls as a client on stdio.
func converse(t *testing.T, cmd *exec.Cmd, client string, calls []replayed) []answer {
	t.Helper()
	process, err := mcpclient.Start(cmd, mcpclient.StdioOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := mcpclient.NewClient(process, client, nil)
	defer c.Close(true)
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers := make([]answer, len(calls))
	for i, call := range calls {
		got, err := c.Ask(t.Context(), "tools/call", string(reencode(t, call.Request.Params)))
		if err = errors.Join(err, json.Unmarshal(got.Bytes(), &answers[i])); err != nil {
			t.Fatal(err)
		}
		answers[i].whole = string(got.Result().Raw())
	}
	return answers
}

// TestGoClientShowsWhatPreviewSays has hosts on the official Go SDK.
func TestGoClientShowsWhatPreviewSays(t *testing.T) {
	t.Parallel()
	candor := buildCandor(t)
	for host, named := range map[string]string{"other": "look-go", "codex": "codex-mcp-client", "zed": "Zed", "ai-sdk": "ai-sdk-mcp-client"} {
		w := wrap(t, candor)
		client := mcp.NewClient(&mcp.Implementation{Name: named, Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: w.command(t)}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		var answers []answer
		for _, c := range recordedAnswers(t) {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.Request.Params.Name, Arguments: c.Request.Params.Arguments})
			var a answer
			if e := (*jsonrpc.Error)(nil); errors.As(err, &e) {
				a.Error = &struct{ Message string }{e.Message}
			} else if err != nil {
				t.Fatal(err)
			} else if err := json.Unmarshal(reencode(t, result), &a.Result); err != nil {
				t.Fatal(err)
			}
			answers = append(answers, a)
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		w.compare(t, host, answers)
	}
}

// TestTypeScriptClientsShowWhatPreviewSays has hosts on both generations of the official TypeScript SDK.
func TestTypeScriptClientsShowWhatPreviewSays(t *testing.T) {
	t.Parallel()
	candor := buildCandor(t)
	for _, c := range []conformance.Client{conformance.V1, conformance.V2Legacy} {
		t.Run(c.Package.Name, func(t *testing.T) {
			box, err := conformance.OpenToolbox()
			conformance.OkOrSkip(t, err)
			application, err := box.Application(t.Context(), c, t.TempDir())
			conformance.OkOrSkip(t, err)
			for host, flag := range map[string]string{"other": "auto", "codex": "codex", "openai-agents": "openai-agents", "claude-code": "claude-code"} {
				w := wrap(t, candor, "--client", flag)
				var calls []conformance.Call
				for _, r := range recordedAnswers(t) {
					calls = append(calls, r.Request.Params)
				}
				seen, err := application.Look(t.Context(), w.door, calls)
				if err != nil {
					t.Fatal(err)
				}
				w.compare(t, host, answersOf(t, seen.Calls))
			}
		})
	}
}

// answersOf returns what an application saw. Both SDKs put a prefix before the message of a JSON-RPC error.
func answersOf(t *testing.T, seen []conformance.Sight) []answer {
	t.Helper()
	answers := make([]answer, len(seen))
	for i, s := range seen {
		if s.Thrown != nil {
			_, message, cut := strings.Cut(s.Thrown.Message, fmt.Sprintf("MCP error %d: ", s.Thrown.Code))
			if !cut {
				message = s.Thrown.Message
			}
			answers[i].Error = &struct{ Message string }{message}
		} else if err := json.Unmarshal(s.Result, &answers[i].Result); err != nil {
			t.Fatal(err)
		}
	}
	return answers
}

// compare compares what a host shows of the recorded answers with the preview.
func (w wrapped) compare(t *testing.T, host string, answers []answer) {
	t.Helper()
	previews := w.previews(t)
	for i, r := range recordedAnswers(t) {
		tool := r.Request.Params.Name
		if want, got := previews[tool][host], anyRef(answers[i].shownBy(host)); got != want || want == "" {
			t.Errorf("%s of %s: preview says\n%s\nthe host shows\n%s", tool, host, want, got)
		}
	}
}

func buildCandor(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "candor")
	if err := testbinary.Build(t.Context(), path, testbinary.Raced); err != nil {
		t.Fatal(err)
	}
	return path
}

//go:build unix

package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
	"github.com/candor-mcp/candor/serve"
	"github.com/candor-mcp/candor/wire"
)

// serveShop is a Go server with package serve. Every tool but report fails; report only looks as if it did.
func serveShop() {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	add := func(name string, readOnly bool, answer func() (*mcp.CallToolResult, error)) {
		tool := &mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly}}
		mcp.AddTool(server, tool, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			result, err := answer()
			return result, nil, err
		})
	}
	add("order", false, func() (*mcp.CallToolResult, error) {
		return nil, candor.New(candor.CodeNotFound, "no such order", candor.WithSuggestion("Call list_orders."))
	})
	add("stock", true, func() (*mcp.CallToolResult, error) {
		return nil, candor.New(candor.CodeUnavailable, "the stock is being counted", candor.WithRetry(candor.RetryIn(time.Millisecond)))
	})
	add("price", false, func() (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: 1234, Message: "no price"}
	})
	add("report", false, func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"success":false,"error":"two orders are late"}`}}}, nil
	})
	if err := serve.Stdio(context.Background(), server, serve.Config{}); err != nil {
		log.Fatal(err)
	}
}

// session begins a session with a process, and lists the tools, whose hints the gateway needs.
func (p *process) session() *mcpclient.Client {
	p.t.Helper()
	c := mcpclient.NewClient(mcpclient.NewPipe(p.out, p.in, 0), "test", nil)
	begin(p.t, c)
	return c
}

func begin(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(t.Context(), "tools/list", "{}"); err != nil {
		t.Fatal(err)
	}
}

var refLine = regexp.MustCompile(`\\nRef: ([0-9a-f]{20})`)

// checkOneRef checks that an answer has one ref, at most one readable block, and the ref of the server itself only as a link.
func checkOneRef(t *testing.T, answer []byte) {
	t.Helper()
	m := wire.Parse(answer, wire.Limits{})
	holder := m.Result()
	if m.Kind() == wire.KindError {
		holder = m.Error()
	}
	own, _ := dialect.Embedded(holder)
	e, err := dialect.ReadCandor(own)
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	blocks := refLine.FindAllSubmatch(answer, -1)
	if m.Kind() == wire.KindResult && len(blocks) != 1 || len(blocks) > 1 {
		t.Errorf("%d readable blocks: %s", len(blocks), answer)
	}
	for _, b := range blocks {
		if string(b[1]) != e.Ref() {
			t.Errorf("the block has the ref %s: %s", b[1], answer)
		}
	}
	var theirs string
	if err := e.Details().Get("upstream").Get("ref").Decode(&theirs); err != nil || theirs == "" || strings.Count(string(answer), theirs) != 1 {
		t.Errorf("the server's ref %q is not only in details.upstream: %s", theirs, answer)
	}
}

// checkCount checks how many failures a ledger counts, by server, and returns all counts.
func checkCount(t *testing.T, trail string, want ...ledgerexport.Bucket) ledgerexport.Stats {
	t.Helper()
	r, err := ledger.OpenReader(trail)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	stats, err := ledgerexport.Count(t.Context(), r, "server", ledger.ReadOptions{})
	if err != nil || fmt.Sprint(stats.Buckets) != fmt.Sprint(want) {
		t.Errorf("the ledger counts %v, %v; want %v", stats.Buckets, err, want)
	}
	return stats
}

// callTool calls a tool and returns the answer.
func callTool(t *testing.T, c *mcpclient.Client, tool, arguments string) []byte {
	t.Helper()
	answer, err := c.Ask(t.Context(), "tools/call", mcpclient.CallParams(tool, arguments))
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return answer.Bytes()
}

// TestCandorBehindCandorIsOne checks for a server with package serve behind candor wrap that a model sees one block and one ref, and that
// each failure is counted once in the ledger that both write to, in every dialect.
func TestCandorBehindCandorIsOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"candor", "system-error", "tool-error", "rpc", "dual", "dual-unified", "sep3313"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "wrap", "--name", "front", "--retry", "1", "--", "env", "CANDOR_DIALECT="+name, "shop")
			c := p.session()
			for _, tool := range []string{"order", "stock", "price", "nosuch"} {
				checkOneRef(t, callTool(t, c, tool, "{}"))
			}
			if got := string(callTool(t, c, "report", "{}")); strings.Contains(got, "isError") {
				t.Errorf("the report is %s", got)
			}
			if err := p.in.Close(); err != nil {
				t.Fatal(err)
			}
			if code := p.ends(); code != 0 || !strings.Contains(p.said.String(), "front: 7 calls, 4 failures ") {
				t.Errorf("ended with %d: %s", code, p.said)
			}
			stats := checkCount(t, p.trail, ledgerexport.Bucket{Name: "front", Count: 4}, ledgerexport.Bucket{Name: "shop", Count: 1})
			if stats.Kinds[ledger.KindAttempt] != 1 || stats.Kinds[ledger.KindFailure] != 10 || stats.Suspected != 1 {
				t.Errorf("the ledger has %v, %d suspected; want 1 attempt, 4 + 6 failures, 1 suspected", stats.Kinds, stats.Suspected)
			}
		})
	}
}

// TestCandorBehindGatewayIsOne is the same for candor gateway.
func TestCandorBehindGatewayIsOne(t *testing.T) {
	t.Parallel()
	g := newGate(t, "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams:\n  front:\n    command: [shop]\n    retry: 1\n")
	c := mcpclient.NewClient(mcpclient.OpenHTTP(g.address+"/front/", mcpclient.HTTPOptions{}), "test", nil)
	begin(t, c)
	for _, tool := range []string{"order", "stock", "price", "nosuch"} {
		checkOneRef(t, callTool(t, c, tool, "{}"))
	}
	callTool(t, c, "report", "{}")
	c.Close(true)
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != 0 {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	checkCount(t, g.trail, ledgerexport.Bucket{Name: "front", Count: 4}, ledgerexport.Bucket{Name: "shop", Count: 1})
}

// systemCall is a call of a tool of a built-in system. In its arguments, ROOT is the workspace and TOKEN the last continueToken.
type systemCall struct {
	tool, arguments string
	fails           bool
}

// TestSystemsBehindWrapAreOne is the same for the built-in systems, whose ledgers are in one folder with that of the gateway here. Their
// reports that a call is blocked or a plan is wrong are answers, not failures.
func TestSystemsBehindWrapAreOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system []string
		calls  []systemCall
	}{
		{[]string{"kaiza", "--root", "root"}, []systemCall{
			{"begin_session", `{"workspace_root":"ROOT","role":"planner"}`, false}, {"lint_plan", `{"content":"no front matter"}`, false},
			{"read_file", `{"path":"zz"}`, true}, {"nosuch", "{}", true}}},
		{[]string{"workrail"}, []systemCall{
			{"start_workflow", `{"workflowId":"bug-hunt","context":{"report":"it crashes","capabilities":{"shell":true}}}`, false}, {"continue_workflow", `{"continueToken":"TOKEN"}`, false},
			{"inspect_workflow", `{"workflowId":"zz"}`, true}, {"nosuch", "{}", true}}},
		{[]string{"harness", "--mcp"}, []systemCall{{"kg_query", "{}", false}, {"kg_add", `{"subject":"","predicate":"b","object":"c"}`, true}, {"nosuch", "{}", true}}},
		{[]string{"dual"}, []systemCall{{"task_list", "{}", false}, {"merkle_finalize", `{"session_id":"zz"}`, true}, {"nosuch", "{}", true}}},
	} {
		t.Run(c.system[0], func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			root := filepath.Join(home, "root")
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			p := launchIn(t, home, append([]string{"wrap", "--name", "front", "--", "candor", "workbench"}, c.system...)...)
			s, token, failures := p.session(), "", uint64(0)
			for _, call := range c.calls {
				got := callTool(t, s, call.tool, strings.NewReplacer("ROOT", root, "TOKEN", token).Replace(call.arguments))
				if found := continueToken.FindSubmatch(got); found != nil {
					token = string(found[1])
				}
				if call.fails {
					failures++
					checkOneRef(t, got)
				} else if strings.Contains(string(got), `"dev.candor/error"`) {
					t.Errorf("%s: %s", call.tool, got)
				}
			}
			if err := p.in.Close(); err != nil {
				t.Fatal(err)
			}
			p.ends()
			checkCount(t, p.trail, ledgerexport.Bucket{Name: "front", Count: failures})
		})
	}
}

var continueToken = regexp.MustCompile(`"continueToken":"([^"]+)"`)

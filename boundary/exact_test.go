package boundary_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

var mixedCalls = flag.Int("calls", 10_000, "how many mixed calls are made before the counts are compared; .ci/run torture makes 100,000")

const mixedClients = 64

// mixedServer returns a server with handlers that fail in every possible way, or succeed.
func mixedServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "mixed", Version: "1"}, nil)
	type in struct {
		How string `json:"how"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "act"}, func(ctx context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		switch i.How {
		case "error":
			return nil, nil, errors.New("it is on fire")
		case "coded":
			return nil, nil, candor.New(candor.CodeRateLimited, "")
		case "panic":
			panic("thrown")
		case "own":
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "File not found"}}}, nil, nil
		case "wait":
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "fine"}}}, nil, nil
	})
	s.AddResource(&mcp.Resource{Name: "r", URI: "file:///there"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, errors.New("the disk is gone")
	})
	return s
}

// mixed lists the lines that a client sends; %d is replaced by the id.
var mixed = []struct {
	line   string
	silent bool // the protocol does not allow an answer
	cancel bool // the call is cancelled after it was sent
}{
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"ok"}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"error"}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"coded"}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"panic"}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"own"}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"who":7}}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"nobody"}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%[1]d}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call"}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"no/such"}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"file:///there"}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"file:///missing"}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{"name":"none"}}`},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"ping"}`},
	{line: `this is no JSON %d`},
	{line: `[{"jsonrpc":"2.0","id":%d,"method":"ping"}]`},
	{line: `{"jsonrpc":"2.0","id":{"no":%d},"method":"ping"}`},
	{line: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"%d"}}`, silent: true},
	{line: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"act","arguments":{"how":"wait"}}}`, silent: true, cancel: true},
}

// mixedClient sends n lines and returns the number of answers that report a failure.
func mixedClient(r io.Reader, w io.Writer, n int, seed uint64) (failed int, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	chance := rand.New(rand.NewPCG(seed, 1))
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"m","version":"1"}}}`
	if _, err := io.WriteString(w, hello+"\n"); err != nil {
		return 0, err
	}
	if _, err := lines.ReadSlice('\n'); err != nil {
		return 0, err
	}
	for id := 1; id <= n; id++ {
		kind := mixed[chance.IntN(len(mixed))]
		text := fmt.Sprintf(kind.line+"\n", id)
		if kind.cancel {
			text += fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return failed, err
		}
		if kind.silent {
			continue
		}
		answer, err := lines.ReadSlice('\n')
		if err != nil {
			return failed, err
		}
		var said struct {
			Error  json.RawMessage
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return failed, fmt.Errorf("%w: %s", err, answer)
		}
		if said.Error != nil || said.Result.IsError {
			failed++
		}
	}
	return failed, nil
}

// TestH9MessagesEqualEntriesEqualCounts makes many calls from many clients at the same time. The failures that were sent and those
// that must not be sent equal the failures in the ledger and in the counters.
func TestH9MessagesEqualEntriesEqualCounts(t *testing.T) {
	calls := *mixedCalls
	if testing.Short() {
		calls = 4000
	}
	dir := t.TempDir()
	trail, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := mixedServer()
	b := boundary.Install(server, boundary.Options{Ledger: trail, Meter: counts, Logger: slog.New(slog.DiscardHandler)})
	var written atomic.Int64
	var clients, servers sync.WaitGroup
	for i := range mixedClients {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		servers.Go(func() { _ = server.Run(t.Context(), b.Transport(fromClient, toClient)) })
		clients.Go(func() {
			failed, err := mixedClient(fromServer, toServer, calls/mixedClients, uint64(i))
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			written.Add(int64(failed))
			_ = toServer.Close()
			_, _ = io.Copy(io.Discard, fromServer)
		})
	}
	clients.Wait()
	servers.Wait()
	if err := trail.Close(); err != nil {
		t.Fatal(err)
	}
	stats := counts.Stats()
	entries := failureEntries(t, dir)
	t.Logf("%d calls from %d clients: %d failures told, %d not to be told, %d entries, %d counted", calls, mixedClients,
		written.Load(), stats.Suppressed, entries, stats.Total)
	if uint64(entries) != stats.Total || uint64(written.Load())+stats.Suppressed != stats.Total || stats.Unrecorded != 0 {
		t.Errorf("told %d + not to be told %d, entries %d, counted %d, unrecorded %d", written.Load(), stats.Suppressed, entries, stats.Total, stats.Unrecorded)
	}
	var sum uint64
	for _, n := range stats.ByCode {
		sum += n
	}
	if sum != stats.Total {
		t.Errorf("byCode adds up to %d of %d", sum, stats.Total)
	}
}

func failureEntries(t *testing.T, dir string) int {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	n := 0
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind == ledger.KindFailure {
			n++
		}
	}
	return n
}

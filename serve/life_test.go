package serve_test

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// stats has the members of sys/errorStats that these tests check.
type stats struct {
	Total    int
	ByCode   map[string]int
	BySymbol map[string]int
	Lifetime *struct {
		Total    int
		BySymbol map[string]int
		ByTool   map[string]map[string]int
	}
}

func statsOf(t *testing.T, raw []byte) (s stats) {
	t.Helper()
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return s
}

// TestCountersAreRebuiltFromTheLedger runs a server twice. The first run ends cleanly or is killed.
func TestCountersAreRebuiltFromTheLedger(t *testing.T) {
	for name, last := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			first := stdio(t, home, "MCP_ERROR_METRICS=1")
			first.fail(3)
			first.ask("no/such/method", "{}")
			first.signal(last)
			first.ended()
			second := stdio(t, home, "MCP_ERROR_METRICS=1")
			second.fail(2)
			m := second.ask("sys/errorStats", "{}")
			got := statsOf(t, m.Result().Raw())
			if got.Total != 2 || got.Lifetime == nil {
				t.Fatalf("got %s", m.Bytes())
			}
			if l := got.Lifetime; l.Total != 6 || l.BySymbol["INTERNAL_ERROR"] != 5 || l.BySymbol["METHOD_NOT_FOUND"] != 1 || l.ByTool["fails"]["tool"] != 5 {
				t.Errorf("the lifetime is %s", m.Result().Path("lifetime").Raw())
			}
			second.stop()
			verified(t, ledgerOf(home))
		})
	}
}

// TestH18EndOfInputDrainsOpenCalls closes the input while a tool is running, and releases the tool afterwards.
func TestH18EndOfInputDrainsOpenCalls(t *testing.T) {
	t.Parallel()
	p := stdio(t, t.TempDir())
	p.answer(`"hello"`)
	id := p.request("tools/call", call("held"))
	p.printed.await(opened, 1)
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // gives the server time to see the end of the input
	p.signal(releaseSignal)
	m := p.answer(id)
	if code, _ := m.Result().Path("_meta", "dev.candor/error", "code").Str(); code != "INTERNAL_ERROR" {
		t.Errorf("the open call was answered with %s", m.Bytes())
	}
	p.endsWell()
	if refs := recorded(t, ledgerOf(p.home)); refs[refOf(&m)] != 1 || len(refs) != 1 {
		t.Errorf("recorded %v", refs)
	}
}

func TestH18ClosedOutputEndsCleanly(t *testing.T) {
	t.Parallel()
	p := stdio(t, t.TempDir())
	p.answer(`"hello"`)
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	p.request("tools/call", call("fails")) // writing its answer fails; the input stays open
	p.endsWell()
	if refs := recorded(t, ledgerOf(p.home)); len(refs) != 1 {
		t.Errorf("recorded %v", refs)
	}
	verified(t, ledgerOf(p.home))
}

// TestSIGTERMAnswersAndRecordsOpenCalls stops a server on standard input and output with calls open.
func TestSIGTERMAnswersAndRecordsOpenCalls(t *testing.T) {
	t.Parallel()
	p := stdio(t, t.TempDir())
	p.answer(`"hello"`)
	const calls = 8
	for range calls {
		p.request("tools/call", call("waits"))
	}
	p.printed.await(opened, calls)
	p.signal(syscall.SIGTERM)
	answers := p.rest()
	p.endsWell()
	checkOpenCalls(t, p.home, answers, calls)
}

// checkOpenCalls checks that each of the calls was cancelled, recorded and answered once.
func checkOpenCalls(t *testing.T, home string, answers []wire.Message, calls int) {
	t.Helper()
	refs := recorded(t, ledgerOf(home))
	if len(refs) != calls {
		t.Errorf("%d of %d open calls are on record", len(refs), calls)
	}
	if len(answers) != calls {
		t.Errorf("%d of %d open calls were answered", len(answers), calls)
	}
	for _, m := range answers {
		if code, _ := m.Result().Path("_meta", "dev.candor/error", "code").Str(); code != "CANCELLED" || refs[refOf(&m)] != 1 {
			t.Errorf("recorded %d times: %s", refs[refOf(&m)], m.Bytes())
		}
	}
	for _, chain := range verified(t, ledgerOf(home)).Chains {
		if !chain.Closed {
			t.Errorf("chain %s is not closed", chain.Chain)
		}
	}
}

package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// recorded returns the failure entries of a ledger.
func recorded(t *testing.T, dir string) []ledger.Record {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it is only read
	var all []ledger.Record
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure {
			continue
		}
		record, err := line.Record()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}

// TestEveryFailureIsRecordedBeforeItIsSent kills the harness as soon as the last response has arrived, and checks that
// every sent failure is on disk.
func TestEveryFailureIsRecordedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	h := start(t, setup{ledger: true, env: []string{"MCP_ERROR_METRICS=1", "MCP_MAX_LINE_LEN=1000"}})
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":2,"method":"sys/ping","params":{"x":1}}`,
		`not JSON`,
		`{"jsonrpc":"2.0","method":"no/notification"}`,
		strings.Repeat("x", 2000),
		`[{"jsonrpc":"2.0","id":3,"method":"no/such"},7]`,
	}
	for _, line := range lines {
		h.send(line)
	}
	refs := map[string]bool{}
	for range 5 { // one line has no answer
		v, err := wire.ParseValue(h.line(), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		units := []wire.Value{v}
		if v.Type() == wire.TypeArray {
			units = nil
			for unit := range v.Elements() {
				units = append(units, unit)
			}
		}
		for _, unit := range units {
			ref, _ := unit.Path("error", "data", "dev.candor/error", "ref").Str()
			refs[ref] = true
		}
	}
	stats := h.ask("sys/errorStats", "{}").result()
	total, _ := stats.Path("total").Int64()
	suppressed, _ := stats.Path("suppressed").Int64()
	h.kill()
	entries := recorded(t, filepath.Join(h.state, "ledger"))
	if len(entries) != int(total) || len(refs) != int(total-suppressed) || suppressed != 1 {
		t.Errorf("%d entries, %d counted, %d sent, %d suppressed", len(entries), total, len(refs), suppressed)
	}
	for _, e := range entries {
		delete(refs, e.Ref)
	}
	if len(refs) > 0 {
		t.Errorf("sent and not recorded: %v", refs)
	}
}

// TestTwoHarnessesShareAStateFolder uses one state directory twice, because every agent on a machine starts a harness.
func TestTwoHarnessesShareAStateFolder(t *testing.T) {
	t.Parallel()
	first := start(t, setup{ledger: true})
	second := start(t, setup{ledger: true, state: first.state})
	third := start(t, setup{ledger: true, state: first.state, mcp: true})
	for i, h := range []*harness{first, second, third} {
		h.call("sys/ping", fmt.Sprintf(`{"x":%d}`, i)).fails(1000, "common/E_INVALID_PARAMS")
	}
	for _, h := range []*harness{first, second, third} {
		if code := h.end(); code != 0 {
			t.Errorf("exit code %d: %s", code, &h.said)
		}
	}
	if n := len(recorded(t, filepath.Join(first.state, "ledger"))); n != 3 {
		t.Errorf("%d failures are recorded, want 3", n)
	}
}

// TestUnrecordedFailureIsReplaced removes the ledger. A failure that cannot be recorded is replaced
// by one that is not counted in total. A success, which line mode does not record, is sent unchanged.
func TestUnrecordedFailureIsReplaced(t *testing.T) {
	t.Parallel()
	h := start(t, setup{ledger: true, env: []string{"MCP_ERROR_METRICS=1", "MCP_KG_MAX_TRIPLES=1"}})
	h.call("kg/add", `{"subject":"a","predicate":"b","object":"c"}`).result()
	if err := os.Rename(filepath.Join(h.state, "ledger"), filepath.Join(h.state, "gone")); err != nil {
		t.Fatal(err)
	}
	r := h.call("kg/add", `{"subject":"a","predicate":"b","object":"d"}`).fails(4091, "candor/AUDIT_LOG_FAILED")
	message, _ := r.m.Error().Path("message").Str()
	if retryable, _ := r.m.Error().Path("data", "retryable").Bool(); retryable || strings.Contains(message, "not done") || !strings.Contains(r.details(), "kg/E_KG_FULL") {
		t.Errorf("got %s", r.m.Bytes())
	}
	h.call("kg/add", `{"subject":"a","predicate":"b","object":"c"}`).result()
	stats := h.call("sys/errorStats", "{}").result()
	if total, unrecorded := stats.Path("total"), stats.Path("unrecorded"); string(total.Raw()) != "0" || string(unrecorded.Raw()) != "1" {
		t.Errorf("stats: %s", stats.Raw())
	}
}

package ledger

import (
	"context"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
)

// TestD12EveryCallHasAnEnterAndAnExit checks that an accepted call and a denied one both write a pair of entries with
// the same call id, and that the exit holds the outcome and the code.
func TestD12EveryCallHasAnEnterAndAnExit(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		id      string
		outcome Outcome
		code    candor.Code
	}{{"c-1", OutcomeOK, candor.Code{}}, {"c-2", OutcomeError, candor.CodeTimeout}, {"c-3", OutcomeDenied, dual.ToolNotAdmitted}}
	for _, c := range calls {
		for _, e := range []Entry{
			{Kind: KindEnter, Call: c.id, Tool: "task_update", Args: []byte(`{"id":1}`)},
			{Kind: KindExit, Call: c.id, Tool: "task_update", Outcome: c.outcome, Code: c.code},
		} {
			if _, err := l.Append(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	pairs := map[string][]Record{}
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range r.Entries(context.Background(), ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if record, err := line.Record(); err != nil {
			t.Fatal(err)
		} else if record.Call != "" {
			pairs[record.Call] = append(pairs[record.Call], record)
		}
	}
	for _, c := range calls {
		p := pairs[c.id]
		if len(p) != 2 || p[0].Kind != KindEnter || p[1].Kind != KindExit || p[1].Outcome != c.outcome || p[1].Code != c.code.Symbol() || p[0].Args == nil {
			t.Errorf("%s left %+v", c.id, p)
		}
	}
}

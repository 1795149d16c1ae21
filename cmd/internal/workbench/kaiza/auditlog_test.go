package kaiza_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// hashes returns the hashes of the entries that read_audit_log returns, in order.
func (c *client) hashes(query args) (hashes []string) {
	c.t.Helper()
	a := c.call("read_audit_log", query)
	a.fine()
	for e := range a.m.Result().Path("structuredContent", "entries").Elements() {
		hash, _ := e.Path("hash").Str()
		hashes = append(hashes, hash)
	}
	return hashes
}

// TestTheTrailCanBeReadPageByPage pages from the newest entry to the oldest: each entry is returned once for any page
// size, although all have the same time, like entries that are written together.
func TestTheTrailCanBeReadPageByPage(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor()
	now := time.Now()
	for _, instance := range []string{"one", "two"} {
		trail, err := ledger.Open(p.ledgerDir(), ledger.Options{Instance: instance, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			if _, err := trail.Append(t.Context(), ledger.Entry{Kind: ledger.KindExit, Tool: "planted", WorkspaceRoot: p.work}); err != nil {
				t.Fatal(err)
			}
		}
		if err := trail.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for _, e := range p.entries() {
		if e.Tool == "planted" {
			want = append(want, e.Hash)
		}
	}
	if len(want) != 24 {
		t.Fatalf("%d entries, not 24", len(want))
	}
	for _, size := range []int{1, 4, 5, 500} {
		query := args{"last": size, "tool": "planted"}
		var got []string
		for range 30 {
			page := c.hashes(query)
			if len(page) == 0 {
				break
			}
			got = slices.Concat(page, got)
			query["before"] = page[0]
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d there are %d entries, or in another order, not %d", size, len(got), len(want))
		}
	}
	c.call("read_audit_log", args{"before": hashOf("no entry")}).is("INVALID_INPUT_VALUE")
	c.call("read_audit_log", args{"before": "2026-11-15T10:00:00Z"}).is("INVALID_INPUT_VALUE")
	c.call("read_audit_log", args{"since": "2026-13-45T99:99:99Z"}).is("INVALID_INPUT_VALUE")
}

// TestAuditLogIgnoresWorkspacesNamedInData writes entries that name this workspace in all members except the
// relevant one.
func TestAuditLogIgnoresWorkspacesNamedInData(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor()
	trail, err := ledger.Open(p.ledgerDir(), ledger.Options{Instance: "other"})
	if err != nil {
		t.Fatal(err)
	}
	digest := candor.RootDigest(p.work)
	var foreign []string
	for _, root := range []string{"", filepath.Dir(p.work)} {
		effect, err := trail.Reserve(t.Context(), ledger.Entry{Tool: "read_file", WorkspaceRoot: root,
			Data: candor.DetailsOf(map[string]any{"workspace_root": digest, "deep": map[string]any{"workspace_root": digest}})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := effect.Complete(t.Context(), ledger.Entry{Outcome: ledger.OutcomeOK, Tool: "read_file", WorkspaceRoot: root}); err != nil {
			t.Fatal(err)
		}
	}
	if err := trail.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range p.entries() {
		if e.Kind == ledger.KindReserve {
			foreign = append(foreign, e.Hash)
		}
	}
	if len(foreign) != 2 {
		t.Fatalf("%d entries were planted", len(foreign))
	}
	for _, query := range []args{{}, {"tool": "read_file"}, {"last": 500}} {
		for _, hash := range c.hashes(query) {
			if slices.Contains(foreign, hash) {
				t.Errorf("%v shows an entry of another workspace", query)
			}
		}
	}
	for _, hash := range foreign {
		c.call("read_audit_log", args{"before": hash}).is("INVALID_INPUT_VALUE")
	}
}

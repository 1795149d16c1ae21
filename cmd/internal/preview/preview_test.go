package preview_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/preview"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/ledger"
)

// viewFor returns the view of a client.
func viewFor(t *testing.T, r *ledger.Record, client string) preview.View {
	t.Helper()
	a, err := preview.OfRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	return preview.Only(a.Views(), client)[0]
}

// TestEntryOfGoServerHasOnlyEnvelope checks the entries of package boundary, which have the envelope without its answer.
func TestEntryOfGoServerHasOnlyEnvelope(t *testing.T) {
	e := candor.New(candor.CodeNotFound, "no such page", candor.WithTool("read"), candor.WithRef("r-1"))
	for _, name := range dialect.Names() {
		if name == "problem" || name == "sep3313" {
			continue // not for MCP, and without a message
		}
		envelope := dialect.Must(name).Encode(nil, e, dialect.Options{})
		r := &ledger.Record{Ref: "r-1", Tool: "read", Envelope: &ledger.RecordText{Text: string(envelope)}}
		for _, c := range contract.Clients() {
			v := viewFor(t, r, c.Name)
			if !strings.Contains(v.Text, "no such page") || v.Bytes != len(v.Text) || v.Server != nil {
				t.Errorf("%s, %s: %+v", name, c.Name, v)
			}
		}
	}
}

func TestViewOfCallerComesFirst(t *testing.T) {
	sent := &ledger.RecordText{Text: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true}}`}
	for client, data := range map[string]string{"zed": `{"client":"zed"}`, preview.Other: `{}`} {
		a, err := preview.OfRecord(&ledger.Record{Envelope: sent, Upstream: sent, Data: []byte(data)})
		if err != nil || !a.Passed || !slices.Contains(a.Views()[0].Clients, client) {
			t.Errorf("%s: %v, %+v", client, err, a)
		}
	}
}

func TestEntryWithoutAnswerHasNoPreview(t *testing.T) {
	said := &ledger.RecordText{Text: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"ok\":false}"}]}}`}
	for _, tc := range []struct {
		r    ledger.Record
		want error
	}{
		{ledger.Record{Outcome: ledger.OutcomeSuppressed, Upstream: said}, preview.ErrNoAnswer},
		{ledger.Record{Outcome: ledger.OutcomeSuspected, Upstream: said}, nil},
		{ledger.Record{Outcome: ledger.OutcomeSuspected, Upstream: &ledger.RecordText{Text: said.Text[:20], Cut: true}}, preview.ErrCut},
		{ledger.Record{Envelope: &ledger.RecordText{Text: said.Text[:20], Cut: true}}, preview.ErrCut},
		{ledger.Record{Envelope: &ledger.RecordText{Text: "{}"}}, preview.ErrNotResponse},
	} {
		if a, err := preview.OfRecord(&tc.r); !errors.Is(err, tc.want) || err == nil && (!a.Passed || a.Views()[0].Text != `{"ok":false}`) {
			t.Errorf("%+v: %v, want %v; %+v", tc.r, err, tc.want, a)
		}
	}
}

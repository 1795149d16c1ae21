package bridge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/ledger"
)

// TestLedgerKeepsTheEnvelopeAsSent compares the client's answer over HTTP with the entry on disk.
func TestLedgerKeepsTheEnvelopeAsSent(t *testing.T) {
	answers := map[string]string{
		"tool":     `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"cannot open /srv/data/notes/a.txt: é \u0026 \"quoted\""}]}}`,
		"protocol": `{"jsonrpc":"2.0","id":7,"error":{"code":-32050,"message":"cannot open /srv/data/notes/a.txt","data":{"file":"/srv/data/notes/a.txt"}}}`,
	}
	for _, mode := range []gateway.Mode{gateway.ModeObserve, gateway.ModeAnnotate, gateway.ModeStrict} {
		for name, answer := range answers {
			s := newScene(t)
			got := httpgatetest.Send(t, http.MethodPost, s.front(t, httpgatetest.Says(http.StatusOK, "application/json", answer), mode), httpgatetest.ToolCall)
			if err := s.ledger.Close(); err != nil {
				t.Fatal(err)
			}
			r := onlyFailure(t, s.dir)
			if r.Envelope == nil || r.Upstream == nil {
				t.Fatalf("%s, %s: the entry is %+v", mode, name, r)
			}
			if r.Envelope.Text != string(got.Body) || r.Envelope.Redacted || r.Envelope.Cut {
				t.Errorf("%s, %s:\nsent     %s\nrecorded %s", mode, name, got.Body, r.Envelope.Text)
			}
			for which, text := range map[string]*ledger.RecordText{"envelope": r.Envelope, "upstream": r.Upstream} {
				sum := sha256.Sum256([]byte(text.Text))
				if text.Bytes != int64(len(text.Text)) || text.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
					t.Errorf("%s, %s: bytes and digest of the %s are not of one text: %+v", mode, name, which, text)
				}
			}
		}
	}
}

func onlyFailure(t *testing.T, dir string) ledger.Record {
	t.Helper()
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // it was only read
	var found []ledger.Record
	for line, err := range reader.Entries(t.Context(), ledger.ReadOptions{}) {
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
		found = append(found, record)
	}
	if len(found) != 1 {
		t.Fatalf("%d failures", len(found))
	}
	return found[0]
}

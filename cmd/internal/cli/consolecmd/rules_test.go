package consolecmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/ledger"
)

// suspectedLedger returns a ledger with one suspected failure of the tool get_invoice of shop.
func suspectedLedger(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Append(context.Background(), ledger.FailureEntry(candor.Failure{
		Error: candor.New(candor.CodeNotFound, "", candor.WithTool("get_invoice")), Method: "tools/call", Verdict: "masked", Suspected: true, Upstream: "shop",
		Received: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"success\":false,\"error\":\"Invoice 7 does not exist\"}"}]}}`),
	}))
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRuleIsWrittenAsPreviewed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "shop.yaml")
	if err := os.WriteFile(file, []byte("# mine\nversion: 1\nserver: shop\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	m, ctx := &ruleMaker{dir: suspectedLedger(t), profiles: ProfileFolder(folder)}, t.Context()
	rules, err := m.Propose(ctx, "shop", "get_invoice")
	if err != nil || len(rules) != 1 || rules[0].Words != "/success is false" {
		t.Fatalf("proposed are %+v, %v", rules, err)
	}
	ids := []string{rules[0].ID}
	preview, err := m.Preview(ctx, "shop", "get_invoice", ids)
	if err != nil || preview.Added != 1 || !strings.HasPrefix(preview.After, preview.Before) {
		t.Fatalf("the preview is %+v, %v", preview, err)
	}
	if data, _ := os.ReadFile(file); string(data) != preview.Before {
		t.Error("the preview changed the file")
	}
	if _, err := m.Write(ctx, "shop", "get_invoice", ids, "0"); !errors.Is(err, console.ErrChanged) {
		t.Errorf("another version: %v", err)
	}
	if _, err := m.Write(ctx, "shop", "get_invoice", ids, preview.Version); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != preview.After {
		t.Errorf("written is %q, %v", data, err)
	}
	if p, err := config.ParseProfile(file, data); err != nil || len(p.Rules.Masks) != 1 {
		t.Errorf("the profile: %v", err)
	}
	if rules, err = m.Propose(ctx, "shop", "get_invoice"); err != nil || len(rules) != 0 {
		t.Errorf("proposed again are %+v, %v", rules, err)
	}
	if _, err := m.Preview(ctx, "shop", "get_invoice", ids); err == nil {
		t.Error("a rule that the profile has is previewed")
	}
}

func TestProfileStaysInItsFolder(t *testing.T) {
	profiles := ProfileFolder(t.TempDir())
	for _, server := range []string{"../shop", "a/b", "..", "", "a\x00b"} {
		if file, _, err := profiles(server); err == nil {
			t.Errorf("the profile of %q is %s", server, file)
		}
	}
}

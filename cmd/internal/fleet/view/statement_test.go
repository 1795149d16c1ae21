package view_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

func TestRotationIsStatedWithBothSignatures(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	keys, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := keys[0]
	for range 2 {
		if _, err := ledger.RotateKey(dir); err != nil {
			t.Fatal(err)
		}
	}
	if l, err = ledger.Open(dir, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	at, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, at.Chain, "audit-log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	line, err := ledger.ParseLine([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	said, ok := view.StatedKeys(&line)
	if !ok || len(said.Rotations) != 2 || said.Rotations[0].Old != old || said.Rotations[1].New != said.Key || said.Rotations[0].New != said.Rotations[1].Old {
		t.Errorf("got %+v, want two rotations from %s", said, old)
	}
	second, _, _ := strings.Cut(rest, "\n")
	if line, err = ledger.ParseLine([]byte(second)); err != nil {
		t.Fatal(err)
	}
	if _, ok := view.StatedKeys(&line); ok {
		t.Error("an entry that is not the first states keys")
	}
}

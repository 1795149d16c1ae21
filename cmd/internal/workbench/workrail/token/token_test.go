package token_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

func open(t *testing.T, dir string) *token.Key {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	r, err := token.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var sample = token.Token{Kind: token.Continue, Session: token.SessionID{1, 2, 3, 4, 5, 6, 7, 8}, Node: 70_000, Attempt: 3}

func refused(t *testing.T, k *token.Key, text string) {
	t.Helper()
	_, err := k.Parse(text, token.Continue)
	var e *candor.Error
	if !errors.As(err, &e) || e.Details().Get("reason").IsZero() || len(text) > 8 && strings.Contains(fmt.Sprint(e, e.Details()), text[3:]) {
		t.Fatalf("%q: %v", text, err)
	}
}

func TestTokenSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	text := open(t, dir).Mint(sample)
	got, err := open(t, dir).Parse(text, token.Continue)
	if err != nil || got != sample {
		t.Errorf("got %+v, %v, want %+v", got, err, sample)
	}
	if len(text) != 43 {
		t.Errorf("%d characters", len(text))
	}
}

// TestW12EveryAlteredTokenIsRefused replaces, removes and adds every character at every position.
func TestW12EveryAlteredTokenIsRefused(t *testing.T) {
	r := open(t, t.TempDir())
	text := r.Mint(sample)
	const all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_- \n\x00é"
	for i := range len(text) + 1 {
		if i < len(text) {
			refused(t, r, text[:i]+text[i+1:])
		}
		for _, c := range all {
			refused(t, r, text[:i]+string(c)+text[i:])
			if i < len(text) && string(c) != text[i:i+1] {
				refused(t, r, text[:i]+string(c)+text[i+1:])
			}
		}
	}
	for i := range len(text) {
		refused(t, r, text[:i])
	}
}

func TestDamagedKeyFileIsNotReplaced(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", 64)} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/token.key", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := token.Open(root); err == nil {
			t.Errorf("%q was accepted", text)
		}
		if after, _ := os.ReadFile(dir + "/token.key"); string(after) != text {
			t.Errorf("%q was replaced", text)
		}
		_ = root.Close()
	}
}

func TestSessionIDs(t *testing.T) {
	id := token.SessionID{0xab, 1}
	if got, ok := token.ParseSessionID(id.String()); !ok || got != id {
		t.Errorf("got %s, %v", got, ok)
	}
	for _, text := range []string{"", "ab", "AB01000000000000", "zz01000000000000", "ab010000000000000"} {
		if _, ok := token.ParseSessionID(text); ok {
			t.Errorf("%q was accepted", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	root, err := os.OpenRoot(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	r, err := token.Open(root)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.Mint(sample))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := r.Parse(text, token.Continue)
		if err == nil && r.Mint(got) != text {
			t.Errorf("%q is a second spelling", text)
		}
	})
}

package token_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

func open(t *testing.T, dir string) *token.Keyring {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	r, err := token.Open(root, time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var sample = token.Token{Kind: token.Continue, Session: token.SessionID{1, 2, 3, 4, 5, 6, 7, 8}, Node: 70_000, Attempt: 3}

func problem(t *testing.T, r *token.Keyring, text string, want token.Kind) (token.Problem, string) {
	t.Helper()
	_, err := r.Parse(text, want)
	var e *token.Error
	if !errors.As(err, &e) {
		t.Fatalf("%q as %s: %v", text, want, err)
	}
	if len(text) > 8 && strings.Contains(e.Error(), text[3:]) {
		t.Errorf("the error holds the token: %s", e)
	}
	return e.Problem, e.Reason
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

// TestEveryChangedCharacterIsNoticed replaces, removes and adds every character at every position.
func TestEveryChangedCharacterIsNoticed(t *testing.T) {
	r := open(t, t.TempDir())
	text := r.Mint(sample)
	const all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_- \n\x00é"
	for i := range len(text) + 1 {
		if i < len(text) {
			problem(t, r, text[:i]+text[i+1:], token.Continue)
		}
		for _, c := range all {
			problem(t, r, text[:i]+string(c)+text[i:], token.Continue)
			if i < len(text) && string(c) != text[i:i+1] {
				problem(t, r, text[:i]+string(c)+text[i+1:], token.Continue)
			}
		}
	}
	for i := range len(text) {
		problem(t, r, text[:i], token.Continue)
	}
}

func TestEachCauseHasItsOwnReason(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	text := r.Mint(sample)
	other := open(t, t.TempDir())
	if err := other.Rotate(time.Unix(1_800_000_001, 0)); err != nil {
		t.Fatal(err)
	}
	foreign := other.Mint(sample)
	if err := r.Rotate(time.Unix(1_800_000_001, 0)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Parse(text, token.Continue); err != nil || got != sample {
		t.Errorf("a token of the key before: %v", err)
	}
	retired := open(t, dir)
	if n, err := retired.Retire(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	resume := r.Mint(token.Token{Kind: token.Resume, Session: sample.Session})
	for _, c := range []struct {
		name    string
		ring    *token.Keyring
		text    string
		problem token.Problem
		reason  string
	}{
		{"empty", r, "", token.InvalidFormat, "wrong_prefix"},
		{"prefix", r, "xx_" + text[3:], token.InvalidFormat, "wrong_prefix"},
		{"truncated", r, text[:40], token.InvalidFormat, "too_short"},
		{"extended", r, text + "0", token.InvalidFormat, "too_long"},
		{"upper case", r, text[:3] + strings.ToUpper(text[3:]), token.InvalidFormat, "wrong_character"},
		{"version", r, text[:3] + "1" + text[4:], token.UnsupportedVersion, "unknown_version"},
		{"foreign key", r, foreign, token.BadSignature, "signature_mismatch"},
		{"retired key", retired, text, token.BadSignature, "unknown_key"},
		{"key retired by another process", r, text, token.BadSignature, "unknown_key"},
		{"other kind", r, resume, token.ScopeMismatch, "wrong_kind"},
		{"other kind forged", r, "ct_" + resume[3:], token.BadSignature, "signature_mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, reason := problem(t, c.ring, c.text, token.Continue); p != c.problem || reason != c.reason {
				t.Errorf("got %d %s, want %d %s", p, reason, c.problem, c.reason)
			}
		})
	}
}

func TestDamagedKeyFileIsNotReplaced(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":2,"keys":[]}`, `{"version":1,"keys":[]}`, `{"version":1,"keys":[{"id":1,"secret":"AAAA"}]}`} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/keys.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := token.Open(root, time.Now()); err == nil {
			t.Errorf("%q was accepted", text)
		}
		if after, _ := os.ReadFile(dir + "/keys.json"); string(after) != text {
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
	r := &token.Keyring{}
	root, err := os.OpenRoot(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	if r, err = token.Open(root, time.Now()); err != nil {
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

// TestKeyringsOpenedTogetherAgree opens a new directory several times at once, as servers that start together do.
func TestKeyringsOpenedTogetherAgree(t *testing.T) {
	t.Parallel()
	for range 20 {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rings := make([]*token.Keyring, 4)
		var all sync.WaitGroup
		for i := range rings {
			all.Go(func() {
				ring, err := token.Open(root, time.Unix(1_800_000_000, 0))
				if err != nil {
					t.Error(err)
				}
				rings[i] = ring
			})
		}
		all.Wait()
		for _, from := range rings {
			text := from.Mint(sample)
			for _, to := range rings {
				if _, err := to.Parse(text, token.Continue); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRotationsOfTwoProcessesKeepBothKeys checks that the second process does not replace the key of the first.
func TestRotationsOfTwoProcessesKeepBothKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	second := open(t, dir)
	var texts []string
	for _, r := range []*token.Keyring{first, second, first} {
		texts = append(texts, r.Mint(sample))
		if err := r.Rotate(time.Unix(1_800_000_001, 0)); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, r.Mint(sample))
	}
	for i, text := range texts {
		for _, r := range []*token.Keyring{first, second, open(t, dir)} {
			if _, err := r.Parse(text, token.Continue); err != nil {
				t.Errorf("token %d: %v", i, err)
			}
		}
	}
	if n, err := second.Retire(); n != 3 || err != nil {
		t.Errorf("%d keys were retired, %v", n, err)
	}
}

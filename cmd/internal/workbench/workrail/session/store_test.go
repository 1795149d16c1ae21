package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// state is the list of the texts in a session.
type state struct{ texts []string }

func fold(s *state, e session.Event) error {
	var text string
	if err := json.Unmarshal(e.Data, &text); err != nil {
		return err
	}
	s.texts = append(s.texts, text)
	return nil
}

const id = "0123456789abcdef"

func open(t testing.TB, dir string) *session.Store[state] {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return session.NewStore(root, fold)
}

func add(t testing.TB, s *session.Store[state], texts ...string) {
	t.Helper()
	for _, text := range texts {
		err := s.Update(context.Background(), id, func(*state) ([]session.Record, error) { return []session.Record{{Kind: "text", Data: text}}, nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// made returns a store with a session of five events, each in a segment.
func made(t testing.TB) (*session.Store[state], string) {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Create(id, session.Record{Kind: "text", Data: "one"}); err != nil {
		t.Fatal(err)
	}
	add(t, s, "two", "three", "four", "five")
	return s, filepath.Join(dir, id)
}

func TestUnknownSessions(t *testing.T) {
	s := open(t, t.TempDir())
	for _, id := range []string{"", "..", "x/../y", "0123456789abcdef", "0123456789ABCDEF"} {
		if err := s.View(context.Background(), id, nil); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.Update(context.Background(), id, nil, nil); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestEveryFlippedByteIsNoticed flips bits of every byte of every file.
func TestEveryFlippedByteIsNoticed(t *testing.T) {
	s, dir := made(t)
	names, err := filepath.Glob(filepath.Join(dir, "events", "*"))
	if err != nil || len(names) != 5 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, filepath.Join(dir, "manifest.jsonl")) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			for _, bit := range []byte{1, 32} {
				b[i] ^= bit
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if h, err := s.Health(id); err != nil || h.Kind == session.Healthy {
					t.Errorf("%s, byte %d, bit %d: %+v, %v", filepath.Base(name), i, bit, h, err)
				}
				b[i] ^= bit
			}
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := s.Health(id); err != nil || h.Kind != session.Healthy {
		t.Errorf("as it was: %+v, %v", h, err)
	}
}

func TestLimits(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // a test
	s := session.NewStore(root, fold)
	s.MaxSessions = 2
	ids := []string{"0000000000000001", "0000000000000002", "0000000000000003"}
	for i, id := range ids {
		err := s.Create(id, session.Record{Kind: "text", Data: "one"})
		if want := i == 2; errors.Is(err, session.ErrTooMany) != want {
			t.Errorf("session %d: %v", i+1, err)
		}
	}
	large := func(*state) ([]session.Record, error) {
		return []session.Record{{Kind: "text", Data: strings.Repeat("x", 5<<20)}}, nil
	}
	if err := s.Update(context.Background(), ids[0], large, nil); !errors.Is(err, session.ErrTooLarge) {
		t.Error(err)
	}
	for _, id := range ids[:2] {
		if err := s.View(context.Background(), id, func(v *state, _ []session.Event) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestCallersOfOneProcessWaitForEachOther checks that a caller waits for another one in its process, here until its
// context ends, and is not told that another process has the lock.
func TestCallersOfOneProcessWaitForEachOther(t *testing.T) {
	s, _ := made(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Update(context.Background(), id, func(*state) ([]session.Record, error) {
		return nil, s.Update(ended, id, nil, nil)
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	add(t, s, "six")
}

package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	return session.NewStore(root, session.Options{}, fold)
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

func texts(t testing.TB, s *session.Store[state]) []string {
	t.Helper()
	var got []string
	err := s.View(context.Background(), id, func(v *state) error {
		got = slices.Clone(v.texts)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEventsSurviveARestart(t *testing.T) {
	s, dir := made(t)
	want := []string{"one", "two", "three", "four", "five"}
	if got := texts(t, s); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	other := open(t, filepath.Dir(dir))
	if got := texts(t, other); !slices.Equal(got, want) {
		t.Errorf("after a restart: %q", got)
	}
	add(t, other, "six")
	if got := texts(t, s); !slices.Equal(got, append(want, "six")) {
		t.Errorf("what another process added: %q", got)
	}
	if h, err := s.Health(id); err != nil || h.Kind != session.Healthy || h.Events != 6 {
		t.Errorf("health %+v, %v", h, err)
	}
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

// TestDamageIsNamed changes the files of a session in every defined way, while a store has it in memory and after a
// restart.
func TestDamageIsNamed(t *testing.T) {
	segment := func(i int) string { return fmt.Sprintf("events/%08d-%08d.jsonl", i, i) }
	dropLine := func(n int) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			edit(t, dir, "manifest.jsonl", func(b string) string {
				lines := strings.SplitAfter(b, "\n")
				return strings.Join(slices.Delete(lines, n, n+1), "")
			})
		}
	}
	flip := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			edit(t, dir, name, func(b string) string { return strings.Replace(b, `"data":"`, `"data":"x`, 1)[:len(b)] })
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		kind   session.HealthKind
		reason session.ReasonCode
		events uint64
	}{
		{"first segment changed", flip(segment(1)), session.CorruptHead, session.DigestMismatch, 0},
		{"third segment changed", flip(segment(3)), session.CorruptTail, session.DigestMismatch, 2},
		{"last segment changed", flip(segment(5)), session.CorruptTail, session.DigestMismatch, 4},
		{"first segment removed", remove(segment(1)), session.CorruptHead, session.MissingSegment, 0},
		{"third segment removed", remove(segment(3)), session.CorruptTail, session.MissingSegment, 2},
		{"manifest removed", remove("manifest.jsonl"), session.CorruptHead, session.SchemaValidation, 0},
		{"first line dropped", dropLine(0), session.CorruptHead, session.NonContiguous, 0},
		{"third line dropped", dropLine(2), session.CorruptTail, session.NonContiguous, 2},
		{"last two lines dropped", func(t *testing.T, dir string) { dropLine(4)(t, dir); dropLine(3)(t, dir) }, session.CorruptTail, session.NonContiguous, 3},
		{"version of a segment", func(t *testing.T, dir string) {
			edit(t, dir, segment(3), func(b string) string { return strings.Replace(b, `"v":1`, `"v":2`, 1) })
		}, session.VersionUnknown, session.UnknownVersion, 2},
		{"version of the manifest", func(t *testing.T, dir string) {
			edit(t, dir, "manifest.jsonl", func(b string) string { return strings.Replace(b, `"v":1`, `"v":2`, 1) })
		}, session.VersionUnknown, session.UnknownVersion, 0},
		{"line of the manifest changed", func(t *testing.T, dir string) {
			edit(t, dir, "manifest.jsonl", func(b string) string { return strings.Replace(b, `"first":2`, `"first":x`, 1) })
		}, session.CorruptTail, session.SchemaValidation, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := made(t)
			texts(t, s)
			c.damage(t, dir)
			for name, s := range map[string]*session.Store[state]{"in memory": s, "after a restart": open(t, filepath.Dir(dir))} {
				h, err := s.Health(id)
				if err != nil || h.Kind != c.kind || h.Reason == nil || h.Reason.Code != c.reason || h.Events != c.events {
					t.Errorf("%s: health %+v %+v, %v", name, h, h.Reason, err)
				}
				var wrong *session.UnhealthyError
				err = s.Update(context.Background(), id, func(*state) ([]session.Record, error) { return nil, nil }, nil)
				if !errors.As(err, &wrong) || wrong.Health.Kind != c.kind || wrong.Health.Reason.Code != c.reason {
					t.Errorf("%s: update: %v", name, err)
				}
				left, err := s.Salvage(id)
				if err != nil || uint64(len(left.Sound)) != c.events {
					t.Errorf("%s: salvaged %+v, %v", name, left, err)
				}
			}
		})
	}
}

func edit(t *testing.T, dir, name string, change func(string) string) {
	t.Helper()
	name = filepath.Join(dir, name)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	after := change(string(b))
	if after == string(b) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(name, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
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
			for _, bit := range []byte{1, 32, 128} {
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

// TestCrashBeforeTheManifestLine checks that a segment without a manifest line is ignored, and moved aside by the next
// writer.
func TestCrashBeforeTheManifestLine(t *testing.T) {
	for _, cut := range []int{0, 1, 40} { // bytes of the line that were written
		s, dir := made(t)
		edit(t, dir, "manifest.jsonl", func(b string) string {
			last := strings.LastIndex(strings.TrimSuffix(b, "\n"), "\n") + 1
			return b[:last+cut]
		})
		if h, err := s.Health(id); err != nil || h.Kind != session.Healthy || h.Events != 4 || h.Unattested != 1 {
			t.Errorf("health %+v, %v", h, err)
		}
		add(t, s, "five again")
		if got := texts(t, open(t, filepath.Dir(dir))); !slices.Equal(got, []string{"one", "two", "three", "four", "five again"}) {
			t.Errorf("got %q", got)
		}
		if kept, _ := filepath.Glob(filepath.Join(dir, "orphans", "*")); len(kept) != 1 {
			t.Errorf("kept aside: %q", kept)
		}
	}
}

// TestWritersTakeTurns adds to one session from many goroutines of two stores, and checks that no event is lost or
// duplicated.
func TestWritersTakeTurns(t *testing.T) {
	s, dir := made(t)
	other := open(t, filepath.Dir(dir))
	var wait sync.WaitGroup
	for w := range 8 {
		store := []*session.Store[state]{s, other}[w%2]
		wait.Go(func() {
			for i := 0; i < 10; {
				err := store.Update(context.Background(), id, func(v *state) ([]session.Record, error) {
					return []session.Record{{Kind: "text", Data: fmt.Sprint(len(v.texts))}}, nil
				}, nil)
				var locked *session.LockedError
				switch {
				case err == nil:
					i++
				case errors.As(err, &locked): // without an owner, if the holder has not written it yet
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	got := texts(t, s)
	if len(got) != 85 {
		t.Fatalf("%d events", len(got))
	}
	for i, text := range got[5:] {
		if text != fmt.Sprint(i+5) {
			t.Errorf("event %d saw %s events", i+6, text)
		}
	}
}

func TestRemove(t *testing.T) {
	s, dir := made(t)
	texts(t, s)
	if err := s.Remove(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if err := s.View(context.Background(), id, nil); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // a test
	s := session.NewStore(root, session.Options{MaxSessions: 2, MaxOpen: 1}, fold)
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
		if err := s.View(context.Background(), id, func(v *state) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

func TestLockedNamesItsOwner(t *testing.T) {
	s, dir := made(t)
	other := open(t, filepath.Dir(dir))
	err := s.Update(context.Background(), id, func(*state) ([]session.Record, error) {
		err := other.Update(context.Background(), id, nil, nil)
		var locked *session.LockedError
		if !errors.As(err, &locked) || locked.Owner.PID != os.Getpid() || time.Since(locked.Owner.Since) > time.Hour {
			t.Errorf("got %v", err)
		}
		return nil, nil
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

// BenchmarkUpdate adds to sessions of different lengths in turn, and reports the ratio of their times.
func BenchmarkUpdate(b *testing.B) {
	lengths := []int{10, 10_000}
	var stores []*session.Store[state]
	for _, n := range lengths {
		s := open(b, b.TempDir())
		if err := s.Create(id, session.Record{Kind: "text", Data: "one"}); err != nil {
			b.Fatal(err)
		}
		for i := 1; i < n; i += 100 { // 100 at a time, or it takes minutes
			batch := make([]session.Record, min(100, n-i))
			for j := range batch {
				batch[j] = session.Record{Kind: "text", Data: "more"}
			}
			if err := s.Update(b.Context(), id, func(*state) ([]session.Record, error) { return batch, nil }, nil); err != nil {
				b.Fatal(err)
			}
		}
		stores = append(stores, s)
	}
	var spent [2]time.Duration
	for b.Loop() {
		for i, s := range stores {
			began := time.Now()
			add(b, s, "more")
			spent[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "x-short-session")
}

func TestRemoveAbandoned(t *testing.T) {
	s, dir := made(t)
	sessions := filepath.Dir(dir)
	old := time.Now().Add(-2 * time.Hour)
	for name, at := range map[string]time.Time{"new-0000000000000001": old, "new-0000000000000002": time.Now(), "new-other": old, "other": old} {
		if err := os.MkdirAll(filepath.Join(sessions, name, "events"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(sessions, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveAbandoned(time.Hour); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(sessions)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{id, "new-0000000000000002", "new-other", "other"}; !slices.Equal(names, want) {
		t.Errorf("left are %q, want %q", names, want)
	}
}

// TestASessionInUseStaysInMemory checks that two callers in one process wait for each other, regardless of how many
// other sessions are used meanwhile. If the session were evicted, the second would get a lock error from its own
// process.
func TestASessionInUseStaysInMemory(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // a test
	s := session.NewStore(root, session.Options{MaxOpen: 1, LockWait: time.Millisecond}, fold)
	ids := []string{"0000000000000001", "0000000000000002"}
	for _, id := range ids {
		if err := s.Create(id, session.Record{Kind: "text", Data: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	entered, leave, second := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	first := make(chan error, 1)
	go func() {
		first <- s.Update(context.Background(), ids[0], func(*state) ([]session.Record, error) {
			close(entered)
			<-leave
			return nil, nil
		}, nil)
	}()
	<-entered
	if err := s.View(context.Background(), ids[1], func(*state) error { return nil }); err != nil {
		t.Fatal(err)
	}
	go func() {
		second <- s.Update(context.Background(), ids[0], func(*state) ([]session.Record, error) { return nil, nil }, nil)
	}()
	time.Sleep(50 * time.Millisecond) // long enough for the second to time out
	close(leave)
	for _, done := range []chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

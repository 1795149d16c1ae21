package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
)

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *Store) must(t *testing.T, change func(*Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func taskOf(id string) *rules.Task {
	return &rules.Task{ID: id, Title: "a task", Status: rules.Init, CreatedAt: time.Unix(1, 5).UTC(), UpdatedAt: time.Unix(2, 0).UTC()}
}

func TestFailedChangeLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.InsertTask(taskOf("a")), boom)
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if _, err := Get(t.Context(), s, func(tx *Tx) (*rules.Task, error) { return tx.Task("a") }); !errors.Is(err, ErrNotFound) {
		t.Errorf("the task: %v", err)
	}
}

func TestErrorsOfChangesAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{Wait: 20 * time.Millisecond, MaxBytes: 200 << 10})
	s.must(t, func(tx *Tx) error { return tx.InsertTask(taskOf("a")) })
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.InsertTask(taskOf("a")) }); !errors.Is(err, ErrUnique) {
		t.Errorf("the same id: %v", err)
	}
	large := taskOf("b")
	large.Description = strings.Repeat("x", 1<<20)
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.InsertTask(large) }); !errors.Is(err, ErrFull) {
		t.Errorf("a large task: %v", err)
	}
	other := open(t, dir, Options{Wait: 20 * time.Millisecond})
	s.must(t, func(*Tx) error { // other has the turn of its process, and waits for the database
		if err := other.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("beside a change: %v", err)
		}
		return nil
	})
	if err := os.Rename(filepath.Join(dir, FileName), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrGone) {
		t.Errorf("without its file: %v", err)
	}
}

func TestLaterVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.must(t, func(tx *Tx) error { return tx.exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1)) })
	for name, open := range map[string]func() (*Store, error){
		"Open":         func() (*Store, error) { return Open(t.Context(), dir, Options{}) },
		"OpenReadOnly": func() (*Store, error) { return OpenReadOnly(t.Context(), dir) },
	} {
		if _, err := open(); err == nil || !strings.Contains(err.Error(), "want 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRowsAreReadAsWritten stores one row of each kind and reads it with another connection.
func TestRowsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{})
	round := &rules.Round{ID: "r", Topic: "t", Proposer: "p", Quorum: 2, Voters: []string{"u", "v"}, State: rules.Open}
	twice := rules.SecondVote{RoundID: "r", Voter: "u", First: "accept", Attempted: "reject"}
	var first [2]bool
	s.must(t, func(tx *Tx) (err error) {
		err = errors.Join(tx.InsertTask(taskOf("a")), tx.InsertRound(round), tx.InsertVote(round, rules.Vote{Voter: "u", Choice: "accept"}),
			tx.InsertSession(&Session{Session: rules.Session{ID: "s", TaskID: "a"}}), tx.InsertThought(&rules.Record{ID: "x", TaskID: "a", SessionID: "s", Hash: "h"}),
			tx.AttestThought("x", Position{"c", 7}), tx.FinalizeSession("s", "root", 1, "now"), tx.InsertOutcome("u", "voted", "r", "now"))
		for i := range first {
			var failed error
			first[i], failed = tx.InsertEquivocation(twice)
			err = errors.Join(err, failed)
		}
		for i := range keptCalls + 5 {
			err = errors.Join(err, tx.InsertCall(&MeasuredCall{Upstream: "up", Latency: time.Duration(i) * time.Millisecond}))
		}
		return err
	})
	if first != [2]bool{true, false} {
		t.Errorf("equivocations are the first ones: %v", first)
	}
	read, err := OpenReadOnly(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close() //nolint:errcheck // it was only read
	err = read.View(t.Context(), func(tx *Tx) error {
		task, err1 := tx.Task("a")
		round, err2 := tx.Round("r")
		session, err3 := tx.Session("s")
		var at Position
		err4 := tx.Chains("a", func(_ *rules.Record, found Position) error { at = found; return nil })
		calls, err5 := tx.Calls("up", "", 2000)
		outcomes, err6 := tx.Outcomes("u", 0, 10)
		if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
			return err
		}
		if !task.CreatedAt.Equal(time.Unix(1, 5)) || len(round.Votes) != 1 || len(round.Voters) != 2 || len(round.Equivocations) != 1 || session.Root != "root" || session.Records != 1 ||
			at != (Position{"c", 7}) || len(calls) != keptCalls || calls[0].Latency != (keptCalls+4)*time.Millisecond || len(outcomes) != 1 {
			t.Errorf("%+v %+v %+v %v %d %+v", task, round, session, at, len(calls), outcomes)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

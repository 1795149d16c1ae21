package kg

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestQueryOfManyTriples pages through 100,000 triples, the default limit.
func TestQueryOfManyTriples(t *testing.T) {
	g := &graph{file: filepath.Join(t.TempDir(), "kg.db"), limit: defaultMaxTriples}
	t.Cleanup(func() { _ = g.close() })
	db, err := g.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100000)
		INSERT INTO triple (subject, predicate, object) SELECT 's' || i, 'p' || (i % 10), 'o' FROM n`); err != nil {
		t.Fatal(err)
	}
	full := Triple{"new", "p", "o"}
	if _, err := g.add(t.Context(), full); err == nil {
		t.Error("the graph is full")
	}
	predicate, seen, cursor := "p3", 0, ""
	for {
		out, err := g.query(t.Context(), queryIn{Predicate: &predicate, Limit: maxResults, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		seen += len(out.Triples)
		if cursor = out.NextCursor; cursor == "" {
			break
		}
	}
	if seen != 10_000 {
		t.Errorf("%d triples, want 10000", seen)
	}
	stats, err := g.stats(t.Context(), struct{}{})
	if want := (statsOut{Triples: 100_000, Limit: 100_000, Subjects: 100_000, Predicates: 10, Objects: 1}); err != nil || stats != want {
		t.Errorf("stats: %+v, %v", stats, err)
	}
}

// TestLargeTriplesArePaged checks that an answer stays below its limit in bytes.
func TestLargeTriplesArePaged(t *testing.T) {
	g := &graph{file: filepath.Join(t.TempDir(), "kg.db"), limit: 1000}
	t.Cleanup(func() { _ = g.close() })
	db, err := g.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 600)
		INSERT INTO triple (subject, predicate, object) SELECT 's' || i, 'p', printf('%04000d', i) FROM n`); err != nil {
		t.Fatal(err)
	}
	seen, cursor := 0, ""
	for pages := 0; pages < 10; pages++ {
		out, err := g.query(t.Context(), queryIn{Limit: maxResults, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(out.Triples); len(text) > 2*maxBytes {
			t.Errorf("a page of %d bytes", len(text))
		}
		seen += len(out.Triples)
		if cursor = out.NextCursor; cursor == "" {
			break
		}
	}
	if seen != 600 {
		t.Errorf("%d triples, want 600", seen)
	}
}

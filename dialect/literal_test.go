package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// eachLiteral calls f with every input of the vectors that its dialect reads, as it was on the wire.
func eachLiteral(t *testing.T, f func(t *testing.T, from dialect.Dialect, input wire.Value)) {
	t.Helper()
	files, err := filepath.Glob("../spec/vectors/dialect/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []vector
		if err := json.Unmarshal(raw, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Refused == "" {
				t.Run(filepath.Base(file)+"/"+row.Name, func(t *testing.T) {
					f(t, lookup(t, row.Dialect), parse(t, []byte(compact(t, row.Input))))
				})
			}
		}
	}
}

// TestTheWireGoesThroughAnyDialectAndComesBack checks that an error that was read from the wire and passed through another dialect
// is written in its own dialect with the same bytes, as a carrier and as a bare envelope.
func TestTheWireGoesThroughAnyDialectAndComesBack(t *testing.T) {
	eachLiteral(t, func(t *testing.T, a dialect.Dialect, input wire.Value) {
		first, err := a.Read(input)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []dialect.Options{{}, fullView, {Response: true, ID: []byte("7"), Readable: true, Sep3313: true, Complete: true}} {
			carrier, bare := string(a.Write(nil, first, o)), string(a.Encode(nil, first, o))
			if again := string(a.Write(nil, read(t, a, []byte(carrier)), o)); again != carrier {
				t.Errorf("%s is no fixed point\nonce  %s\ntwice %s", a.Name(), carrier, again)
			}
			for _, name := range dialect.Names() {
				b := lookup(t, name)
				back := read(t, b, b.Write(nil, first, shown(o)))
				if name == "rpc" { // it shows only frames, not the text that another runtime prints around them
					back = back.With(candor.WithStack(first.Stack()))
				}
				if got := string(a.Write(nil, back, o)); got != carrier {
					t.Errorf("%s → %s → %s\nwant %s\n got %s", a.Name(), name, a.Name(), carrier, got)
				}
				if got := string(a.Encode(nil, back, o)); got != bare {
					t.Errorf("%s → %s → %s, bare\nwant %s\n got %s", a.Name(), name, a.Name(), bare, got)
				}
			}
		}
	})
}

// shown lets the dialect in the middle show the whole error, because parts that a writer hides are lost.
func shown(o dialect.Options) dialect.Options {
	o.PlainRoot, o.Stack = true, fullView.Stack
	return o
}

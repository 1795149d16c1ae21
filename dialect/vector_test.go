package dialect_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/dialect"
)

var update = flag.Bool("update", false, "write what is read into spec/vectors/dialect, for review")

// vector is one row of spec/vectors/dialect: a dialect reads input as the canonical error, and writes that error as the bare
// envelope output. The input of a row with refused is not an envelope, and the returned error contains that text.
type vector struct {
	Name    string          `json:"name"`
	Dialect string          `json:"dialect"`
	Input   json.RawMessage `json:"input"`
	Refused string          `json:"refused,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
}

func TestVectors(t *testing.T) {
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
			t.Fatalf("%s: %v", file, err)
		}
		for i := range rows {
			name := filepath.Base(file) + "/" + rows[i].Name
			t.Run(name, func(t *testing.T) { rows[i].run(t) })
		}
		if *update && !t.Failed() {
			writeVectors(t, file, rows)
		}
	}
}

func (v *vector) run(t *testing.T) {
	d := lookup(t, v.Dialect)
	e, err := d.Read(parse(t, v.Input))
	if v.Refused != "" {
		if err == nil || !strings.Contains(err.Error(), v.Refused) {
			t.Errorf("%v %v", e, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got := vector{Error: json.RawMessage(canonical(e)), Output: d.Encode(nil, e, dialect.Options{})}
	if *update {
		v.Error, v.Output = got.Error, got.Output
	}
	if want := compact(t, v.Error); want != string(got.Error) {
		t.Errorf("error\nwant %s\n got %s", want, got.Error)
	}
	if want := compact(t, v.Output); want != string(got.Output) {
		t.Errorf("output\nwant %s\n got %s", want, got.Output)
	}
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func writeVectors(t *testing.T, file string, rows []vector) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

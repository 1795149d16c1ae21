package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// FuzzRead reads any bytes in any dialect. An error that was read can be written and read again without a change, as a carrier
// and, after the first time, as a bare envelope.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../spec/vectors/dialect/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		addVectors(f, file)
	}
	f.Fuzz(func(t *testing.T, raw []byte, choice uint8) {
		v, err := wire.ParseValue(raw, wire.Limits{})
		if err != nil {
			return
		}
		dialect.Detect(v)
		d := lookup(t, dialect.Names()[int(choice)%len(dialect.Names())])
		e, err := d.Read(v)
		if err != nil {
			return
		}
		if text := dialect.AppendText(nil, e); len(text) > 1024 || !utf8.Valid(text) {
			t.Fatalf("%d bytes: %q", len(text), text)
		}
		if e.Code() == candor.CodeResourceNotFound { // written as exactly a uri, it has no members for these two
			e = e.With(candor.WithRef(""), candor.WithTime(time.Time{}))
		}
		same(t, "carrier", e, read(t, d, d.Write(nil, e, fullView)))
		bare := read(t, d, d.Encode(nil, e, fullView))
		same(t, "envelope", bare, read(t, d, d.Encode(nil, bare, fullView)))
	})
}

func addVectors(f *testing.F, file string) {
	f.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(raw, &rows); err != nil {
		f.Fatal(err)
	}
	for _, row := range rows {
		for i, name := range dialect.Names() {
			if name == row.Dialect {
				f.Add([]byte(row.Input), uint8(i))
				f.Add([]byte(row.Output), uint8(i))
			}
		}
	}
}

func same(t *testing.T, what string, a, b *candor.Error) {
	t.Helper()
	if canonical(a) != canonical(b) {
		t.Fatalf("%s\n%s\n%s", what, canonical(a), canonical(b))
	}
}

// FuzzTranslate checks that an error built from any texts is the same after it passed through any two dialects.
func FuzzTranslate(f *testing.F) {
	f.Add(uint16(3), "message", "suggestion", `{"issues":[{"path":"/a.b"}],"details":{"x":1}}`, "cause", "name", "ref", int64(5), uint8(9))
	f.Add(uint16(108), "INVALID_KEY: x", "Do not retry.", `"text"`, "", "", "", int64(-1), uint8(36))
	f.Fuzz(func(t *testing.T, code uint16, message, suggestion, details, cause, name, ref string, n int64, pair uint8) {
		e := built(code, message, suggestion, details, cause, name, ref, n)
		names := dialect.Names()
		a, b := lookup(t, names[int(pair)%len(names)]), lookup(t, names[int(pair)/len(names)%len(names)])
		first := read(t, a, a.Write(nil, e, fullView))
		second := read(t, b, b.Write(nil, first, fullView))
		same(t, a.Name(), e, first)
		same(t, b.Name(), e, second)
		same(t, a.Name()+" again", e, read(t, a, a.Write(nil, second, fullView)))
	})
}

func built(code uint16, message, suggestion, details, cause, name, ref string, n int64) *candor.Error {
	var c candor.Code
	at := int(code) % 200
	for c = range candor.Codes() {
		if at--; at < 0 {
			break
		}
	}
	options := []candor.Option{
		candor.WithSuggestion(suggestion), candor.WithRef(ref), candor.WithCauseText(candor.Cause{Message: cause, Name: name}),
		candor.WithTime(time.UnixMilli(n % 4e12)), candor.WithStack(cause),
		candor.WithCallInfo(candor.CallInfo{Tool: name, SessionID: ref, WorkspaceRoot: cause, PhaseID: suggestion}),
	}
	if n%3 == 0 {
		options = append(options, candor.WithRetry(candor.RetryIn(time.Duration(n%1e6)*time.Millisecond)))
	}
	if json.Valid([]byte(details)) {
		options = append(options, candor.WithDetails(json.RawMessage(details)))
	} else {
		options = append(options, candor.WithDetails(details))
	}
	return candor.New(c, message, options...)
}

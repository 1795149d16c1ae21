package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// TestTranslateLosesNoMember translates every error of the scripts that is in a dialect A to every dialect B and back, and checks each
// of its members.
func TestTranslateLosesNoMember(t *testing.T) {
	examples := scriptErrors(t)
	if len(examples) < 10 {
		t.Fatalf("only %d examples", len(examples))
	}
	for _, example := range examples {
		a, _ := dialect.Detect(example)
		for _, b := range dialect.Names() {
			there := translated(t, a.Name(), b, example.Raw())
			back, err := decodecmd.Parse(bytes.TrimSpace(translated(t, b, a.Name(), there)))
			if err == nil {
				err = holds(payload(back, example), example, "")
			}
			if err != nil {
				t.Errorf("%s to %s and back: %v\nbefore %s\nthere  %sback   %s", a.Name(), b, err, example.Raw(), there, back.Raw())
			}
		}
	}
}

// TestTranslateRestoresWriterOptions checks the mirror, the text for people and the members of sep3313: they are not part of the
// error, and some dialects and carriers do not show them.
func TestTranslateRestoresWriterOptions(t *testing.T) {
	e := decodecmd.Sample(candor.CodeRateLimited).With(candor.WithSession("s-1", "WINDSURF", "/srv/shop"))
	for _, a := range dialect.Names() {
		from, err := dialect.Lookup(a)
		if err != nil {
			t.Fatal(err)
		}
		var before []byte // one line for each combination of options
		for bits := range 8 {
			o := dialect.Options{ID: []byte(`"q"`), Response: true, PlainRoot: true, Complete: bits&1 != 0, Readable: bits&2 != 0,
				Sep3313: bits&4 != 0, NoOutputSchema: bits&1 != 0 || decodecmd.Mirrors(from), Mirror: bits&1 != 0}
			before = append(from.Write(before, e, o), '\n')
		}
		for _, b := range dialect.Names() {
			there := translated(t, a, b, before)
			if diff := cmp.Diff(string(before), string(translated(t, b, a, there))); diff != "" {
				t.Errorf("%s to %s and back (- before, + back):\n%s\nthere\n%s", a, b, diff, there)
			}
		}
	}
}

// TestTranslateKeepsBlocksOfNormalisedResponse checks a response whose first block the gateway has added.
func TestTranslateKeepsBlocksOfNormalisedResponse(t *testing.T) {
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"slow down, please"}],"isError":true}}`), wire.Limits{})
	before, err := contract.Normalise(nil, &m, decodecmd.Sample(candor.CodeRateLimited), candor.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range dialect.Names() {
		there := translated(t, "candor", b, before)
		back := translated(t, b, "candor", there)
		if v, err := decodecmd.Parse(bytes.TrimSpace(back)); err != nil || v.Path("result", "content").Len() != 2 || !v.Path("result", "content", 1, "text").Is("slow down, please") {
			t.Errorf("candor to %s and back:\nthere  %sback   %s", b, there, back)
		}
	}
}

// TestTranslateReportsWhatItCannotKeep uses nesting at the limit, which cannot be nested any deeper.
func TestTranslateReportsWhatItCannotKeep(t *testing.T) {
	deep := strings.Repeat("[", wire.DefaultMaxDepth-2) + strings.Repeat("]", wire.DefaultMaxDepth-2)
	in := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"boom"}],"isError":true,"deep":` + deep + `}}`
	if code, out, complaints := watched(in, nil, "translate", "--to", "candor"); code != term.ExitOK || !strings.Contains(out, deep) {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	code, out, complaints := watched(in, nil, "translate", "--to", "rpc")
	if code != term.ExitUsage || out != "" || !strings.Contains(complaints, "line 1: the members beside the error cannot be kept: ") || !strings.Contains(complaints, "same kind") {
		t.Errorf("exit code %d: %s%s", code, out, complaints)
	}
}

// scriptErrors returns the lines of the scripts that are errors in a dialect.
func scriptErrors(t *testing.T) []wire.Value {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var out []wire.Value
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == "later.txtar" {
			continue // an unregistered code is read as the code of its class: docs/decisions/015
		}
		for line := range bytes.Lines(text) {
			v, err := decodecmd.Parse(bytes.TrimSpace(line))
			if err != nil {
				continue
			}
			if d, ok := dialect.Detect(v); ok && !decodecmd.IsBareNumber(d, v) && decodecmd.Reads(d, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func translated(t *testing.T, from, to string, in []byte) []byte {
	t.Helper()
	code, out, complaints := watched(string(in), map[string]string{"DEBUG_STACK": "true", "MCP_ERRORS_VERBOSE": "full"},
		"translate", "--from", from, "--to", to)
	if code != term.ExitOK {
		t.Fatalf("%s to %s: %s\n%s", from, to, complaints, in)
	}
	return []byte(out)
}

// payload removes the carrier that a translation has added, if before had none.
func payload(v, before wire.Value) wire.Value {
	if before.Path("result").Present() || before.Path("jsonrpc").Present() || before.Path("content").Present() || before.Path("type").Present() {
		return v
	}
	if canonical, ok := dialect.Embedded(v); ok && before.Path("class").Present() {
		return canonical
	}
	inner := v.Path("content", 0, "text")
	text, _ := inner.StrBytes()
	if envelope, err := decodecmd.Parse(text); err == nil {
		return envelope
	}
	return v
}

// holds returns an error for the first member of want that is missing in got, at any position. Text that is JSON is compared as
// JSON; the order of members and of elements does not matter.
func holds(got, want wire.Value, path string) error {
	switch want.Type() {
	case wire.TypeObject:
		for name, value := range want.Members() {
			key, _ := name.Str()
			if key == decodecmd.CarrierKey {
				continue
			}
			other, ok := got.Get(key)
			if !ok {
				return fmt.Errorf("%s/%s is lost", path, key)
			}
			if err := holds(other, value, path+"/"+key); err != nil {
				return err
			}
		}
		return nil
	case wire.TypeArray:
		return holdsElements(got, want, path)
	case wire.TypeString:
		return holdsText(got, want, path)
	default:
		if !bytes.Equal(got.Raw(), want.Raw()) {
			return fmt.Errorf("%s is %s and not %s", path, got.Raw(), want.Raw())
		}
		return nil
	}
}

func holdsElements(got, want wire.Value, path string) error {
next:
	for element := range want.Elements() {
		for other := range got.Elements() {
			if holds(other, element, path) == nil {
				continue next
			}
		}
		return fmt.Errorf("%s has lost %s", path, element.Raw())
	}
	return nil
}

func holdsText(got, want wire.Value, path string) error {
	a, _ := got.StrBytes()
	b, _ := want.StrBytes()
	inner, err := decodecmd.Parse(b)
	if err == nil && inner.Type() == wire.TypeObject {
		outer, err := decodecmd.Parse(a)
		if err != nil {
			return fmt.Errorf("%s holds no JSON", path)
		}
		return holds(outer, inner, path)
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s is %q and not %q", path, a, b)
	}
	return nil
}

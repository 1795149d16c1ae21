package yamlfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

var form = yamlfile.Form{MaxBytes: 64 << 10, Large: "write less", Quoted: "stars"}

// read parses a text as a.yaml and returns its root and its problems.
func read(text string) (ast.Node, *yamlfile.Report, error) {
	r := yamlfile.NewReport("a.yaml", []byte(text))
	root, ok := r.Parse([]byte(text), form)
	if ok != (r.Err() == nil) {
		return root, r, errors.Join(errors.New("ok and the report disagree"), r.Err())
	}
	return root, r, r.Err()
}

func TestProblemsHavePositionLineAndHint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\nb:\tc: [\n":                       "a.yaml:2:4: tab character cannot use as a map key directly\n  2 | b:\tc: [\n    |   \t^\n",
		"a: 1\na: 2\n":                           "a.yaml:2:1: duplicate key \"a\"\n  2 | a: 2\n    | ^\n  hint: keep one of them",
		"a: *b: c\n":                             "hint: check the indentation, and put quotes around stars",
		"a: 1\n---\nb: 2\n":                      "a.yaml:3:2: the file has more than one document",
		strings.Repeat("[", 65):                  "a.yaml:1:65: more than 64 nested brackets",
		strings.Repeat("- ", 65) + "a":           "a.yaml:1:129: more than 64 nested lists",
		"a: 1\n\x00":                             "a.yaml: the file is not text\n  hint: save it as UTF-8 text",
		"a: 1\nb: " + strings.Repeat("x", 9<<10): "a.yaml: line 2 is longer than 8192 bytes\n  hint: break it into several",
		strings.Repeat("# x\n", 17<<10):          "a.yaml: the file is larger than 64 KiB\n  hint: write less",
	} {
		if _, _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, wanted %q", text, err, want)
		}
	}
}

// TestOnlyNestingIsTooDeep parses a text with more brackets than may nest, and a long list.
func TestOnlyNestingIsTooDeep(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a: '" + strings.Repeat("[{", 64) + "'\n", strings.Repeat("- a\n", 100), "[" + strings.Repeat("[], ", 100) + "]"} {
		if _, _, err := read(text); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestEmptyFileHasNoRoot(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n"} {
		if root, _, err := read(text); err != nil || root != nil {
			t.Errorf("%q: %v, %v", text, root, err)
		}
	}
}

// TestMarkIsBelowThePosition has a line that begins with a multi-byte character, and one that may be a secret.
func TestMarkIsBelowThePosition(t *testing.T) {
	t.Parallel()
	root, r, err := read("ä: {b: c}\nkey: hunter2\n")
	pairs, ok := yamlfile.Pairs(root)
	if err != nil || !ok || len(pairs) != 2 {
		t.Fatal(err, ok, len(pairs))
	}
	if _, ok := yamlfile.Pairs(pairs[1].Value); ok {
		t.Error("a text is taken for a mapping")
	}
	r.At(pairs[0].Value.GetToken(), yamlfile.NewMistake("a number", "this is %s", "a mapping"))
	r.Hide(pairs[1].Value.GetToken(), errors.New("no hint"))
	r.Whole(errors.New("too bad"))
	r.Add(yamlfile.Problem{File: "b.yaml", Line: 3, Column: 4, Text: "another file"})
	const want = "a.yaml:1:4: this is a mapping\n  1 | ä: {b: c}\n    |    ^\n  hint: a number\na.yaml:2:6: no hint\na.yaml: too bad\nb.yaml:3:4: another file"
	if r.Err().Error() != want {
		t.Errorf("%s\nwanted\n%s", r.Err(), want)
	}
}

func TestControlCharactersAreNotShown(t *testing.T) {
	t.Parallel()
	root, r, err := read("a: \"\x1b[31m\u202e" + strings.Repeat("ü", 300) + "\"\n")
	if err != nil {
		t.Fatal(err)
	}
	r.At(root.GetToken(), errors.New("x"))
	shown := r.Err().Error()
	if strings.ContainsAny(shown, "\x1b\u202e") || !strings.Contains(shown, "ü…\n") || strings.Count(shown, "ü") > 200 {
		t.Errorf("%q", shown)
	}
}

func TestReportKeepsTheFirstProblems(t *testing.T) {
	t.Parallel()
	r := yamlfile.NewReport("a.yaml", nil)
	for range 2 * yamlfile.MaxProblems {
		r.Whole(errors.New("again"))
	}
	if r.Count() != yamlfile.MaxProblems {
		t.Errorf("%d", r.Count())
	}
}

func TestMistakeHasAHint(t *testing.T) {
	t.Parallel()
	if got := yamlfile.NewMistake("b", "%s", "a").Error(); got != "a (hint: b)" {
		t.Error(got)
	}
	if got := yamlfile.NewMistake("", "a").Error(); got != "a" {
		t.Error(got)
	}
	if got := yamlfile.Quote(strings.Repeat("ä", 40)); got != `"`+strings.Repeat("ä", 30)+`…"` {
		t.Error(got)
	}
	if got := yamlfile.Quote("x" + strings.Repeat("ä", 40)); got != `"x`+strings.Repeat("ä", 29)+`…"` {
		t.Error(got)
	}
}

func TestSizeNeedsAUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1B": 1, "64KiB": 64 << 10, "1.5 mib": 3 << 19, "2GiB": 2 << 30, "1kB": 1000, "3MB": 3e6, "4GB": 4e9, "0MiB": 0,
		"9999999999999GiB": yamlfile.MaxSize, strings.Repeat("9", 400) + "B": yamlfile.MaxSize,
	} {
		if got, err := yamlfile.Size(text); err != nil || got != want {
			t.Errorf("%.20s: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"16": "the size \"16\" has no unit (hint: write the unit: 16B, 16KiB or 16MiB)", "": "is not a size", "-1KiB": "is not a size", "1TiBs": "is not a size", "KiB": "is not a size",
	} {
		if _, err := yamlfile.Size(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

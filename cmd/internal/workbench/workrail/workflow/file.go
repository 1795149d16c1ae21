package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/tailscale/hujson"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// The limits of a workflow file; [Schema] has others.
const (
	MaxBytes       = 1 << 20 // of the file, and of its canonical text
	MaxSteps       = 500     // in all, those in loops included
	MaxDepth       = 8       // loops inside loops
	MaxPromptBytes = 16 << 10
	MaxProblems    = 100
)

// Smaller limits that no serious file reaches. They keep the texts for an agent short.
const (
	maxVersion   = 64
	maxTitle     = 200
	maxText      = 4 << 10 // of a description or one piece of guidance
	maxTreeDepth = 64      // values inside values
)

// NotRegular is the reason why a file in a workflow directory is not read.
const NotRegular = "not a regular file, such as a symbolic link or a pipe, which is never read"

var form = yamlfile.Form{
	MaxBytes: MaxBytes, Large: "split it into several workflows", Quoted: "texts that contain : # [ or {",
}

// fileSchema returns [Schema], compiled.
var fileSchema = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(Schema) })

// Printable returns the name of a file for messages, quoted if it has invisible characters or line breaks.
func Printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Parse reads a workflow file. The name is for messages; a file whose name ends in .json must be JSON, every other file
// may be YAML or JSON. The error is a [*yamlfile.Error] that lists at most [MaxProblems] problems in the order of the
// file.
func Parse(name string, data []byte) (*Workflow, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	f := &file{data: data, errors: yamlfile.NewReport(Printable(name), data[:min(len(data), MaxBytes)])}
	f.errors.SetLimit(MaxProblems)
	w := f.workflow(f.text(strings.EqualFold(path.Ext(name), ".json")))
	err := f.errors.Err()
	if wrong, ok := err.(*yamlfile.Error); ok { //nolint:errorlint // a Report does not wrap it
		slices.SortStableFunc(wrong.Problems, func(a, b yamlfile.Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, err
	}
	return w, nil
}

// Check is [Parse] that returns the problems. The workflow is nil if there are problems.
func Check(name string, data []byte) (*Workflow, []yamlfile.Problem) {
	w, err := Parse(name, data)
	if wrong, ok := err.(*yamlfile.Error); ok { //nolint:errorlint // Parse does not wrap it
		return nil, wrong.Problems
	}
	return w, nil
}

// file is a workflow file that is being read, and its problems.
type file struct {
	data   []byte
	root   ast.Node // nil for JSON
	errors *yamlfile.Report
}

// whole records a problem of the file as a whole.
func (f *file) whole(hint, format string, args ...any) {
	f.errors.Whole(yamlfile.NewMistake(hint, format, args...))
}

// text returns the file as canonical JSON, nil if there are problems.
func (f *file) text(isJSON bool) []byte {
	switch {
	case len(f.data) > MaxBytes:
		f.whole(form.Large, "file: larger than %d KiB", MaxBytes>>10)
		return nil
	case !utf8.Valid(f.data):
		f.whole("save it as UTF-8", "file: not UTF-8 text")
		return nil
	}
	var v any
	var bad wire.Malformation
	switch err := readable(f.data); {
	case err == nil:
		v, _ = decode(f.data) // it is valid
	case errors.As(err, &bad) && isJSON:
		f.errors.At(f.offset(bad.Offset), yamlfile.NewMistake("check commas, quotes and brackets; JSON has no comments", "not JSON that can be read safely: %s", bad.Flaw.Reason()))
	case err == errManyValues: //nolint:errorlint // readable does not wrap it
		f.whole(form.Large, "file: %s", err)
	default:
		v = f.yaml()
	}
	if f.errors.Count() > 0 {
		return nil
	}
	text, err := jsontext.AppendCanonical(nil, v)
	if err != nil {
		f.whole("use fewer levels and smaller numbers", "file: %s", err)
		return nil
	}
	return text
}

var errManyValues = errors.New("more than " + strconv.Itoa(yamlfile.MaxTokens) + " keys and values")

// readable checks that a text is JSON within the limits of a file.
func readable(text []byte) error {
	limits := wire.Limits{MaxBytes: MaxBytes, MaxDepth: maxTreeDepth, AllowLoneSurrogates: true}
	if _, err := wire.ParseValue(text, limits); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for count := 0; count <= yamlfile.MaxTokens; {
		t, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // the text is valid; this is its end
		}
		if t != json.Delim('}') && t != json.Delim(']') {
			count++
		}
	}
	return errManyValues
}

// yaml returns the value of a YAML file. YAML that JSON cannot express, or that repeats values, is an error.
func (f *file) yaml() (v any) {
	root, ok := f.errors.Parse(f.data, form)
	switch {
	case !ok:
		return nil
	case root == nil:
		f.whole("a workflow begins with id: and name:", "file: empty")
		return nil
	}
	f.root = root
	ast.Walk(f, root)
	if f.errors.Count() > 0 {
		return nil
	}
	if err := yaml.NodeToValue(root, &v); err != nil {
		f.errors.Syntax(err, form)
	}
	return v
}

// Visit implements [ast.Visitor].
func (f *file) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		f.errors.At(n.GetToken(), yamlfile.NewMistake("write the value out", "anchors and aliases are not supported"))
	case *ast.MergeKeyNode:
		f.errors.At(n.GetToken(), yamlfile.NewMistake("write the keys out", "merge keys (<<) are not supported"))
	case *ast.TagNode, *ast.InfinityNode, *ast.NanNode:
		f.errors.At(n.GetToken(), yamlfile.NewMistake("use text, numbers, true, false, lists and mappings", "value has no JSON form"))
	}
	return f
}

// workflow returns the workflow of a canonical text, with its defaults. The result is only valid if there are no problems.
func (f *file) workflow(text []byte) *Workflow {
	if text == nil {
		return nil
	}
	s, err := fileSchema()
	if err != nil {
		f.whole("", "schema of workflows: %s", err)
		return nil
	}
	if r := explain(s, text); !r.OK() {
		f.issues(r)
		return nil
	}
	w := &Workflow{}
	if err := json.Unmarshal(text, w); err != nil {
		f.whole("", "file: %s", err)
		return nil
	}
	(&checker{file: f, stepIDs: map[string]bool{}}).workflow(w)
	if text, err := w.JSON(); f.errors.Count() == 0 && (err != nil || readable(text) != nil) {
		f.whole("split the workflow", "workflow: larger than %d KiB as JSON, or more than %d values inside each other", MaxBytes>>10, maxTreeDepth)
	}
	return w
}

// explain checks a text. Package schema cannot explain a large value, so that the steps of a large file are checked one by one.
// The issues are then those of the first wrong step.
func explain(s *schema.Schema, text []byte) schema.Report {
	var all map[string]json.RawMessage
	var steps []json.RawMessage
	whole := s.Explain(text)
	if whole.OK() || whole.Issues[0].Rule != schema.RuleTooComplex ||
		json.Unmarshal(text, &all) != nil || json.Unmarshal(all["steps"], &steps) != nil {
		return whole
	}
	if len(steps) > MaxSteps {
		whole.Issues[0] = candor.Issue{Path: "/steps", Rule: "maxItems", Message: fmt.Sprintf("must have at most %d items", MaxSteps)}
		return whole
	}
	all["steps"] = json.RawMessage(`[{"id":"x","prompt":"x"}]`)
	header, _ := json.Marshal(all) // it was JSON
	if r := s.Explain(header); !r.OK() {
		return r
	}
	for i, step := range steps {
		r := s.Explain([]byte(`{"id":"x","name":"x","steps":[` + string(step) + `]}`))
		for k, issue := range r.Issues {
			r.Issues[k].Path = item("/steps", i) + strings.TrimPrefix(issue.Path, "/steps/0")
		}
		if !r.OK() {
			return r
		}
	}
	return schema.Report{}
}

// issues records where the file does not fit the schema. A key is not reported as missing beside an unknown one, which
// may be meant for it.
func (f *file) issues(r schema.Report) {
	misspelt := map[string]bool{}
	for _, i := range r.Issues {
		if i.Rule == schema.RuleUnknownKey {
			misspelt[path.Dir(i.Path)] = true
		}
	}
	for _, i := range r.Issues {
		if i.Rule != "required" || !misspelt[path.Dir(i.Path)] {
			f.fail(i.Path, hint(i), "%s", i.Message)
		}
	}
	if r.More > 0 {
		f.whole("fix those that are listed first", "file: there are more problems")
	}
}

// hint returns the hint for an issue. Package schema does not know what the alternatives and patterns of this schema mean.
func hint(i candor.Issue) string {
	oneOf := i.Rule == "oneOf" || strings.Contains(i.Hint, "alternatives")
	switch {
	case i.Rule == "pattern":
		return "give a text that is not empty; a name has letters, digits, - and _, as in fix-build or testCommand"
	case i.Rule == "false" && !oneOf:
		return "move it into a step of the loop"
	case !oneOf || path.Base(i.Path) == "times":
		return i.Hint
	case path.Base(i.Path) == "loop" || path.Base(path.Dir(i.Path)) == "loop":
		return "a loop has one of while, until, times and each; only a loop with each has as"
	default:
		return "a condition has a key and one comparison such as equals, or only one of all, any and not"
	}
}

// fail records a problem at a JSON Pointer. If it does not exist in the file, the position is that of the value around it.
func (f *file) fail(at, hint, format string, args ...any) {
	where := strings.TrimPrefix(at, "/")
	m := yamlfile.NewMistake(hint, "%s: "+format, append([]any{cmp.Or(where, "workflow")}, args...)...)
	if f.root != nil {
		f.errors.At(place(f.root, at), m)
		return
	}
	root, err := hujson.Parse(f.data)
	if err != nil {
		f.errors.Whole(m)
		return
	}
	v := root.Find(at)
	for ; v == nil; v = root.Find(at) {
		at = at[:max(strings.LastIndexByte(at, '/'), 0)]
	}
	f.errors.At(f.offset(v.StartOffset), m)
}

// place returns the position of a key or a list item.
func place(n ast.Node, at string) *token.Token {
	found := n.GetToken()
	if pairs, ok := yamlfile.Pairs(n); ok && len(pairs) > 0 {
		found = pairs[0].Key.GetToken()
	}
	for step := range pointer.Steps(at) {
		pairs, _ := yamlfile.Pairs(n)
		i := slices.IndexFunc(pairs, func(p *ast.MappingValueNode) bool { return p.Key.GetToken().Value == step })
		list, isList := n.(*ast.SequenceNode)
		item, err := strconv.Atoi(step)
		switch {
		case i >= 0:
			n, found = pairs[i].Value, pairs[i].Key.GetToken()
		case isList && err == nil && item < len(list.Values):
			n = list.Values[item]
			found = place(n, "")
		default:
			return found
		}
	}
	return found
}

// offset returns a token with the line and column of an offset in the file.
func (f *file) offset(at int) *token.Token {
	before := f.data[:min(at, len(f.data))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &token.Token{Position: &token.Position{Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(line) + 1}}
}

// decode returns the value of a JSON text, with numbers as [json.Number].
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

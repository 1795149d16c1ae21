package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/similar"
)

// form limits front matter, which is sufficient for three short keys.
var form = yamlfile.Form{MaxBytes: 96 << 10, Large: "use fewer or shorter scopes", Quoted: "values with : # [ or {, or a glob that begins with * & ! { or %"}

// maxNested limits the colons of one line and the indentation, and so the nesting of mappings, for the parser.
const maxNested = 32

// keys lists the keys that front matter may contain.
var keys = []string{"title", "scope", "phase"}

// frontMatter reads the lines between the fences; the first of them is line 2 of the plan.
func (l *linter) frontMatter(p *Plan, lines []string) {
	for i, line := range lines {
		if strings.Count(line, ":") > maxNested || len(line)-len(strings.TrimLeft(line, " -")) > maxNested {
			l.fail(i+2, 1, "yaml", "values are nested", "title and phase are texts, scope is a list of texts; put quotes around values with : or -")
			return
		}
	}
	report := yamlfile.NewReport("plan", []byte(strings.Join(lines, "\n")+"\n"))
	root, ok := report.Parse([]byte(strings.Join(lines, "\n")+"\n"), form)
	if ok {
		l.root(p, root)
		return
	}
	if problems, found := errors.AsType[*yamlfile.Error](report.Err()); found {
		first := problems.Problems[0]
		rule := "yaml"
		if strings.HasPrefix(first.Text, "duplicate key") {
			rule = "duplicate"
		}
		l.fail(first.Line+1, max(first.Column, 1), rule, "the front matter is invalid YAML: "+cut(first.Text, 200), first.Hint)
	}
}

func (l *linter) at(t *token.Token, rule, message, hint string) {
	line, column := position(t)
	l.fail(line, column, rule, message, hint)
}

// position returns the position of a token in the plan, which is one line below its position in the front matter.
func position(t *token.Token) (line, column int) {
	line, column = yamlfile.Place(t)
	return line + 1, max(column, 1)
}

// root reads the keys.
func (l *linter) root(p *Plan, n ast.Node) {
	seen := map[string]bool{}
	pairs, ok := yamlfile.Pairs(n)
	if n != nil && !ok {
		l.at(n.GetToken(), "front-matter", "the front matter is not a list of keys", "write title: and scope: on separate lines")
		return
	}
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		seen[key.Value] = true
		l.key(p, key, pair.Value)
	}
	if !seen["title"] {
		l.fail(1, 1, "title", "the plan has no title", "add title: and a few words")
	}
	if !seen["scope"] {
		l.fail(1, 1, "scope", "the plan has no scope", "add scope: with a list of the globs that may be changed, such as - src/**")
	}
}

func (l *linter) key(p *Plan, key *token.Token, value ast.Node) {
	switch key.Value {
	case "title":
		p.Title = l.title(value)
	case "scope":
		l.scope(p, value)
	case "phase":
		p.Phase = l.phase(value)
	default:
		hint := similar.Hint(key.Value, keys, "a plan has title, scope and phase")
		l.at(key, "unknown-key", fmt.Sprintf("the key %q means nothing", cut(key.Value, 64)), hint)
	}
}

func (l *linter) title(n ast.Node) string {
	v, ok := n.(*ast.StringNode)
	switch {
	case !ok:
		l.at(n.GetToken(), "title", "the title is not text", "give a few words, in quotes if they look like something else")
	case strings.TrimSpace(v.Value) == "":
		l.at(n.GetToken(), "title", "the title is empty", "give a few words")
	case len(v.Value) > MaxTitle:
		l.at(n.GetToken(), "title", fmt.Sprintf("the title is longer than %d bytes", MaxTitle), "shorten it; put details into the text below")
	case strings.ContainsFunc(v.Value, Hidden):
		l.at(n.GetToken(), "hidden-character", "the title has an invisible character", "write it with visible characters only, on one line")
	default:
		return v.Value
	}
	return ""
}

var phaseName = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,63}$`)

func (l *linter) phase(n ast.Node) string {
	v, ok := n.(*ast.StringNode)
	if !ok || !phaseName.MatchString(v.Value) {
		l.at(n.GetToken(), "phase", "the phase is not a valid name", "write it like PHASE_1, at most 64 characters, or leave it out")
		return ""
	}
	return v.Value
}

func (l *linter) scope(p *Plan, n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	switch {
	case !ok:
		l.at(n.GetToken(), "scope", "the scope is not a list", "put each glob on a separate line after a dash")
		return
	case len(list.Values) == 0:
		l.at(n.GetToken(), "scope", "the scope is empty", "list at least one glob, such as - src/**")
		return
	case len(list.Values) > MaxGlobs:
		l.at(list.Values[MaxGlobs].GetToken(), "scope", fmt.Sprintf("the plan has more than %d scopes", MaxGlobs), "name folders instead of files")
		return
	}
	for _, value := range list.Values {
		v, ok := value.(*ast.StringNode)
		if !ok {
			l.at(value.GetToken(), "scope", "the scope is not text", "give a glob, in quotes if it looks like something else")
			continue
		}
		g, wrong := compile(v.Value)
		if wrong != nil {
			l.at(v.GetToken(), "scope", wrong.text, wrong.hint)
			continue
		}
		p.Scope = append(p.Scope, v.Value)
		p.globs = append(p.globs, g)
	}
}

package plan

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/near"
)

// Limits of front matter. They are sufficient for three short keys.
const (
	maxFront  = 96 << 10
	maxLine   = 1 << 10
	maxIndent = 32 // of a dash, which limits the nesting of lists
	maxKeys   = 32 // limits the nesting of mappings
)

// keys lists the keys that front matter may contain.
var keys = []string{"title", "scope", "phase"}

// refused lists the parts of YAML that plans do not need. Without anchors, values cannot multiply; without nested
// brackets, values cannot nest.
var refused = map[token.Type]mistake{
	token.AliasType:          {"a value begins with *, which YAML takes for an alias", "put quotes around a glob that begins with *"},
	token.AnchorType:         {"anchors are not read", "put quotes around a value that begins with &"},
	token.TagType:            {"tags are not read", "put quotes around a value that begins with !"},
	token.MergeKeyType:       {"a merge (<<) is not read", "write the keys out"},
	token.MappingKeyType:     {"a complex key is not read", "put quotes around a value that begins with ?"},
	token.MappingStartType:   {"a value begins with {, which YAML takes for a mapping", "put quotes around a glob that begins with {"},
	token.MappingEndType:     {"a } without a {", "put quotes around a glob with braces"},
	token.LiteralType:        {"a block of text is not read", "write the value on one line"},
	token.FoldedType:         {"a block of text is not read", "write the value on one line"},
	token.DirectiveType:      {"a directive is not read", "put quotes around a value that begins with %"},
	token.DocumentHeaderType: {"front matter is one document", "remove the line with three dashes"},
	token.DocumentEndType:    {"front matter is one document", "remove the line with three dots"},
	token.InvalidType:        {"invalid YAML", "put quotes around values with : # [ or {"},
	token.UnknownType:        {"invalid YAML", "put quotes around values with : # [ or {"},
}

// frontMatter reads the lines between the fences; the first of them is line 2 of the plan.
func (l *linter) frontMatter(p *Plan, lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	if len(text) > maxFront {
		l.fail(1, 1, ruleSize, fmt.Sprintf("the front matter is larger than %d KiB", maxFront>>10), "use fewer or shorter scopes")
		return
	}
	for i, line := range lines {
		if len(line) > maxLine {
			l.fail(i+2, 1, ruleSize, fmt.Sprintf("the line is longer than %d bytes", maxLine), "break it into several")
			return
		}
	}
	tokens := lexer.Tokenize(text)
	if !l.simple(tokens) {
		return
	}
	f, err := parser.Parse(tokens, 0)
	if err != nil {
		l.syntax(err)
		return
	}
	l.root(p, f)
}

// simple refuses anything but a text or a list of texts below a key, before the parser recurses into it.
func (l *linter) simple(tokens token.Tokens) bool {
	brackets, colons, line, marks := 0, 0, 0, 0
	for _, t := range tokens {
		if m, bad := refused[t.Type]; bad {
			l.at(t, ruleYAML, m.text, m.hint)
			return false
		}
		if t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		nested := false
		switch t.Type {
		case token.SequenceStartType:
			brackets++
		case token.SequenceEndType:
			brackets--
		case token.SequenceEntryType:
			marks++
			nested = t.Position.Column > maxIndent
		case token.MappingValueType:
			marks++
			colons++
			nested = colons > maxKeys
		default:
		}
		if nested || brackets > 1 || brackets < 0 || marks > 1 {
			l.at(t, ruleYAML, "values are nested", "title and phase are texts, scope is a list of texts; put quotes around values with : or -")
			return false
		}
	}
	return true
}

func (l *linter) syntax(err error) {
	t, text := yamlfile.Complaint(err)
	switch {
	case t == nil:
		l.fail(1, 1, ruleYAML, "the front matter is invalid YAML", "check it with a YAML tool")
	case strings.Contains(text, "already defined"):
		l.at(t, ruleDuplicate, "duplicate key", "keep one of them")
	default:
		l.at(t, ruleYAML, "the front matter is invalid YAML: "+cut(text, 200), "check the indentation, and put quotes around values with : # [ or {")
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
func (l *linter) root(p *Plan, f *ast.File) {
	seen := map[string]bool{}
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		pairs, ok := yamlfile.Pairs(d.Body)
		if !ok {
			l.at(d.Body.GetToken(), ruleFront, "the front matter is not a list of keys", "write title: and scope: on separate lines")
			return
		}
		for _, pair := range pairs {
			key := pair.Key.GetToken()
			seen[key.Value] = true
			l.key(p, key, pair.Value)
		}
	}
	if !seen["title"] {
		l.fail(1, 1, ruleTitle, "the plan has no title", "add title: and a few words")
	}
	if !seen["scope"] {
		l.fail(1, 1, ruleScope, "the plan has no scope", "add scope: with a list of the globs that may be changed, such as - src/**")
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
		hint := near.Hint(key.Value, keys, "a plan has title, scope and phase")
		l.at(key, ruleUnknown, fmt.Sprintf("the key %q means nothing", cut(key.Value, 64)), hint)
	}
}

func (l *linter) title(n ast.Node) string {
	v, ok := n.(*ast.StringNode)
	switch {
	case !ok:
		l.at(n.GetToken(), ruleTitle, "the title is not text", "give a few words, in quotes if they look like something else")
	case strings.TrimSpace(v.Value) == "":
		l.at(n.GetToken(), ruleTitle, "the title is empty", "give a few words")
	case len(v.Value) > MaxTitle:
		l.at(n.GetToken(), ruleTitle, fmt.Sprintf("the title is longer than %d bytes", MaxTitle), "shorten it; put details into the text below")
	case strings.ContainsFunc(v.Value, hidden):
		l.at(n.GetToken(), ruleHidden, "the title has an invisible character", "write it with visible characters only, on one line")
	default:
		return v.Value
	}
	return ""
}

var phaseName = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,63}$`)

func (l *linter) phase(n ast.Node) string {
	v, ok := n.(*ast.StringNode)
	if !ok || !phaseName.MatchString(v.Value) {
		l.at(n.GetToken(), rulePhase, "the phase is not a valid name", "write it like PHASE_1, at most 64 characters, or leave it out")
		return ""
	}
	return v.Value
}

func (l *linter) scope(p *Plan, n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	switch {
	case !ok:
		l.at(n.GetToken(), ruleScope, "the scope is not a list", "put each glob on a separate line after a dash")
		return
	case len(list.Values) == 0:
		l.at(n.GetToken(), ruleScope, "the scope is empty", "list at least one glob, such as - src/**")
		return
	case len(list.Values) > MaxGlobs:
		l.at(list.Values[MaxGlobs].GetToken(), ruleScope, fmt.Sprintf("the plan has more than %d scopes", MaxGlobs), "name folders instead of files")
		return
	}
	ways, seen := 0, map[string]bool{}
	for _, value := range list.Values {
		v, ok := value.(*ast.StringNode)
		if !ok {
			l.at(value.GetToken(), ruleScope, "the scope is not text", "give a glob, in quotes if it looks like something else")
			continue
		}
		if ways += l.glob(p, v); ways > maxPlanWays {
			l.at(v.GetToken(), ruleScope, fmt.Sprintf("the braces of the plan stand for more than %d globs", maxPlanWays), "use * or fewer alternatives")
			return
		}
		if line, column := position(v.GetToken()); seen[v.Value] {
			l.warn(line, column, ruleDuplicate, "the scope is listed twice", "keep one of them")
		}
		seen[v.Value] = true
	}
}

// glob adds one scope and returns the number of globs that its braces expand to.
func (l *linter) glob(p *Plan, v *ast.StringNode) int {
	g, err := compile(v.Value)
	if err != nil {
		m := mistakeOf(err)
		l.at(v.GetToken(), ruleScope, m.text, m.hint)
		return 0
	}
	p.Scope = append(p.Scope, v.Value)
	p.globs = append(p.globs, g)
	for _, err := range g.doubts() {
		m := mistakeOf(err)
		line, column := position(v.GetToken())
		l.warn(line, column, ruleScopeDoubt, m.text, m.hint)
	}
	return len(g.ways)
}

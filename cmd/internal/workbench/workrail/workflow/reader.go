package workflow

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/near"
)

// reader converts the tree of one file to a [Workflow] and records the problems.
type reader struct {
	errors   *yamlfile.Report
	warnings *yamlfile.Report

	steps        int
	stepIDs      map[string]bool
	capabilities []string
	declared     []string // context keys
	scope        *scope
	uses         []use
}

// scope has the names that a loop adds to the context of its steps.
type scope struct {
	outer *scope
	names []string
}

// has reports whether the scope or one around it has a name.
func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if slices.Contains(s.names, name) {
			return true
		}
	}
	return false
}

// use is one use of a context key.
type use struct {
	key   string
	at    *token.Token
	scope *scope
}

func newReader(file string, data []byte) *reader {
	r := &reader{
		errors: yamlfile.NewReport(file, data), warnings: yamlfile.NewReport(file, data), stepIDs: map[string]bool{},
	}
	r.errors.SetLimit(MaxProblems)
	r.warnings.SetLimit(MaxProblems)
	return r
}

// field is a key that a mapping may have, and how its value is read.
type field struct {
	name    string
	example string // example for the hint if the key is missing; "" if the key is optional
	read    func(n *node)
}

// mapping reads the fields of a mapping in the order of the table, not of the file, so that declarations are read before
// their uses. Unknown and missing keys are errors. what names the mapping in messages. ok is false if n is not a mapping or
// has unknown keys; one of those may be meant for a key that seems to be missing.
func (r *reader) mapping(n *node, what string, fields []field) (ok bool) {
	if !r.want(n, kindMapping, what, "keys such as "+fields[0].name+": …") {
		return false
	}
	ok = true
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.name)
	}
	for _, p := range n.pairs {
		if !slices.Contains(names, p.name) {
			ok = false
			r.fail(p.at, near.Hint(p.name, names, "the keys are "+strings.Join(names, ", ")), "%s: unknown key %s", what, quote(p.name))
		}
	}
	for _, f := range fields {
		v := n.get(f.name)
		switch {
		case v != nil:
			f.read(v)
		case f.example != "":
			r.fail(n.at, "add "+f.example, "%s: %s is missing", what, f.name)
		}
	}
	return ok
}

// get returns the value of a key, nil if the mapping does not have it.
func (n *node) get(name string) *node {
	for _, p := range n.pairs {
		if p.name == name {
			return p.value
		}
	}
	return nil
}

// want reports whether a value has a kind. If not, that is an error.
func (r *reader) want(n *node, k kind, what, hint string) bool {
	if n.kind == k {
		return true
	}
	if k == kindString && n.kind != kindList && n.kind != kindMapping && n.kind != kindNull {
		hint = "put quotes around it"
	}
	r.fail(n.at, hint, "%s: want %s, got %s", what, (&node{kind: k}).describe(), n.describe())
	return false
}

// text reads a text of at most limit bytes that is not empty.
func (r *reader) text(into *string, what string, limit int) func(*node) {
	return func(n *node) {
		if !r.want(n, kindString, what, "give a text") {
			return
		}
		text := strings.TrimSpace(strings.ReplaceAll(n.text, "\r\n", "\n"))
		switch {
		case text == "":
			r.fail(n.at, "give a text", "%s: empty", what)
		case len(text) > limit:
			r.fail(n.at, "make it shorter", "%s: %d bytes, limit %d", what, len(text), limit)
		case strings.ContainsFunc(text, isControl):
			r.fail(n.at, "remove it", "%s: contains a control character", what)
		default:
			*into = text
		}
	}
}

func isControl(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }

var (
	idPattern   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	namePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	keyPattern  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$`)
)

// word reads a text that a pattern matches.
func (r *reader) word(into *string, what string, pattern *lazyregexp.Regexp, limit int, hint string) func(*node) {
	return func(n *node) {
		if !r.want(n, kindString, what, hint) {
			return
		}
		if len(n.text) > limit || !pattern.MatchString(n.text) {
			r.fail(n.at, hint, "%s: %s is not valid, or longer than %d bytes", what, quote(n.text), limit)
			return
		}
		*into = n.text
	}
}

func (r *reader) id(into *string, what string) func(*node) {
	return r.word(into, what, idPattern, maxIDBytes, "use letters, digits, - and _, as in fix-build")
}

// name reads a context key without dots.
func (r *reader) name(into *string, what string) func(*node) {
	return r.word(into, what, namePattern, MaxKeyBytes, "use letters, digits, - and _, beginning with a letter, as in testCommand")
}

// key reads a context key and records its use.
func (r *reader) key(into *string, what string) func(*node) {
	read := r.word(into, what, keyPattern, MaxKeyBytes, "use a key such as testCommand, or unit.path for a member of unit")
	return func(n *node) {
		if read(n); *into != "" {
			r.uses = append(r.uses, use{*into, n.at, r.scope})
		}
	}
}

// flag reads true or false.
func (r *reader) flag(into *bool, what string) func(*node) {
	return func(n *node) {
		if r.want(n, kindBool, what, "give true or false") {
			*into = n.truth
		}
	}
}

// choice reads one of a list of words.
func choice[T ~string](r *reader, into *T, what string, words ...T) func(*node) {
	return func(n *node) {
		names := make([]string, 0, len(words))
		for _, w := range words {
			names = append(names, string(w))
		}
		hint := "use " + near.Quote(names)
		if !r.want(n, kindString, what, hint) {
			return
		}
		if !slices.Contains(names, n.text) {
			r.fail(n.at, near.Hint(n.text, names, hint), "%s: got %s, want %s", what, quote(n.text), near.Quote(names))
			return
		}
		*into = T(n.text)
	}
}

// whole reads a whole number within bounds.
func (r *reader) whole(into *int, what string, least, most int) func(*node) {
	return func(n *node) {
		hint := "give a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
		if !r.want(n, kindNumber, what, hint) {
			return
		}
		number, ok := jsonvalue.Int(json.Number(n.text))
		if !ok || number < int64(least) || number > int64(most) {
			r.fail(n.at, hint, "%s: %s is out of range, or not a whole number", what, n.text)
			return
		}
		*into = int(number)
	}
}

// list reads the items of a list, at least least and at most most of them.
func (r *reader) list(n *node, what string, least, most int, item func(*node)) {
	if !r.want(n, kindList, what, "give a list") {
		return
	}
	switch {
	case len(n.items) < least:
		r.fail(n.at, "add an item, or leave the key out", "%s: empty list", what)
		return
	case len(n.items) > most:
		r.fail(n.at, "use fewer", "%s: %d items, limit %d", what, len(n.items), most)
		return
	}
	for _, i := range n.items {
		item(i)
	}
}

// texts reads a list of texts.
func (r *reader) texts(into *[]string, what string, limit int) func(*node) {
	return func(n *node) {
		r.list(n, what, 1, maxListItems, func(item *node) {
			var text string
			if r.text(&text, what, limit)(item); text != "" {
				*into = append(*into, text)
			}
		})
	}
}

// unique appends a name to a list, or reports that the list already has it.
func (r *reader) unique(list *[]string, name string, at *token.Token, what string) {
	switch {
	case name == "":
	case slices.Contains(*list, name):
		r.fail(at, "keep one of them", "%s %s appears twice", what, quote(name))
	default:
		*list = append(*list, name)
	}
}

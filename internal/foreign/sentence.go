package foreign

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/wire"
)

// fields reads the arguments that a text names as faulty.
func (r *reader) fields(s string) {
	toks := r.tokens(s)
	p := r.prose(toks)
	for i := range toks {
		if isCallee(toks, i) {
			continue
		}
		rule, names := p.find(sentences(), i)
		for _, name := range names {
			r.named(name, rule, lineAt(s, toks[i].at))
		}
	}
	r.runtime(s, toks)
	r.values(s, toks)
}

// lineAt returns the sentence around a position, as the message of an issue.
func lineAt(s string, at int) string {
	begin := at
	for begin > 0 && s[begin-1] != '\n' && !(begin > 1 && s[begin-1] == ' ' && (s[begin-2] == '.' || s[begin-2] == ';')) {
		begin--
	}
	end := at
	for end < len(s) && s[end] != '\n' && !(s[end] == '.' && (end+1 == len(s) || s[end+1] == ' ')) {
		end++
	}
	return clip(unlist(s[begin:end]), maxIssueText)
}

// unlist removes the bullet of a list item.
func unlist(item string) string {
	item = strings.TrimSpace(item)
	for _, mark := range []string{"• ", "- ", "* ", "– "} {
		if rest, ok := strings.CutPrefix(item, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	return item
}

const maxIssueText = 256

// sentence reads the members that hold text and returns the best of them.
func (r *reader) sentence(v wire.Value) string {
	found := make(map[string]string)
	for name, m := range v.Members() {
		if key := Fold(clip(str(name), maxPath)); m.Type() == wire.TypeString && found[key] == "" && len(found) < 64 {
			found[key] = str(m)
		}
	}
	best, slug := "", ""
	if m := v.Path("message"); m.Type() == wire.TypeArray { // one sentence per field
		best = r.value(m)
	}
	for rank, key := range tables().Speakers {
		text := strings.TrimSpace(found[key])
		switch {
		case text == "", !strings.ContainsFunc(text, unicode.IsLetter), rank > 9 && best != "" && !strings.ContainsAny(text, " {<"):
		case isSlug(text) || tables().Verdicts[text]:
			slug = cmp.Or(slug, text)
		default:
			said := r.text(text)
			best = cmp.Or(best, said)
		}
	}
	if best == "" && slug != "" && !tables().Verdicts[slug] {
		return slug
	}
	return best
}

// deeper reads the content of a member that may hold a failure.
func (r *reader) deeper(key string, v wire.Value) string {
	if !tables().Containers[key] || v.Type() != wire.TypeObject && v.Type() != wire.TypeArray {
		return ""
	}
	return r.value(v)
}

// maxElements is the maximum number of elements of an array that are read.
const maxElements = 32

// array reads a list: issues, content blocks, rejected promises, sentences.
func (r *reader) array(v wire.Value) string {
	if r.issueList(v, nil) {
		return ""
	}
	var texts []string
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements {
			break
		}
		if t := r.value(e); t != "" && len(texts) < 8 && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "; ")
}

package profile

import (
	"strconv"
	"strings"
)

// YAML returns the profile as a file for candor wrap --profile.
func (p *Profile) YAML() []byte {
	var b strings.Builder
	b.WriteString("# What candor learnt about this server, as rules for candor wrap --profile. Read each rule before you use it:\n")
	b.WriteString("# a mask turns answers that look like successes into failures, a result rule turns JSON-RPC errors of a tool into results.\n")
	b.WriteString("version: 1\n")
	if p.Server != "" {
		b.WriteString("server: " + quote(p.Server) + "\n")
	}
	for i, m := range p.Masks {
		if i == 0 {
			b.WriteString("masks:\n")
		}
		b.WriteString(m.YAML("  "))
	}
	for i, c := range p.Codes {
		rule(&b, i, "codes", "tool", quote(Pattern(c.Tool)), "text", optional(c.Text), "code", c.Code.Symbol(), "note", optional(c.Note))
	}
	for i, r := range p.Results {
		rule(&b, i, "results", "tool", quote(Pattern(r.Tool)), "note", optional(r.Note))
	}
	return []byte(b.String())
}

// YAML returns the mask as an item of a list with this indentation.
func (m *Mask) YAML(indent string) string {
	suspected := ""
	if m.Suspected {
		suspected = "true"
	}
	return item(indent, "tool", quote(Pattern(m.Tool)), "path", optional(m.Path), "equals", m.Equals, "text", optional(m.Text), "except", optional(m.Except),
		"suspected", suspected, "code", m.Code.Symbol(), "note", optional(m.Note))
}

// rule writes the item with index i of a list.
func rule(b *strings.Builder, i int, list string, pairs ...string) {
	if i == 0 {
		b.WriteString(list + ":\n")
	}
	b.WriteString(item("  ", pairs...))
}

// item returns an item of a list without empty members.
func item(indent string, pairs ...string) string {
	var b strings.Builder
	lead := indent + "- "
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(lead + pairs[i] + ": " + pairs[i+1] + "\n")
			lead = indent + "  "
		}
	}
	return b.String()
}

func optional(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

// quote returns a text as a YAML string: a JSON string in ASCII.
func quote(text string) string { return strconv.QuoteToASCII(text) }

// Pattern escapes a name for a member that may be a pattern.
func Pattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

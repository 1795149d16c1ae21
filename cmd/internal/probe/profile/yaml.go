package profile

import (
	"strconv"
	"strings"
)

// YAML returns the profile as a file for candor wrap --profile.
func (p *Profile) YAML() []byte {
	var b strings.Builder
	b.WriteString("# What candor probe learnt about this server, as rules for candor wrap --profile. Read each rule before you use it:\n")
	b.WriteString("# a mask turns answers that look like successes into failures, a result rule turns JSON-RPC errors of a tool into results.\n")
	b.WriteString("version: 1\n")
	if p.Server != "" {
		b.WriteString("server: " + quote(p.Server) + "\n")
	}
	for i, m := range p.Masks {
		rule(&b, i, "masks", "tool", quote(pattern(m.Tool)), "path", optional(m.Path), "equals", m.Equals, "text", optional(m.Text), "except", optional(m.Except), "code", m.Code.Symbol(), "note", optional(m.Note))
	}
	for i, c := range p.Codes {
		rule(&b, i, "codes", "tool", quote(pattern(c.Tool)), "text", optional(c.Text), "code", c.Code.Symbol(), "note", optional(c.Note))
	}
	for i, r := range p.Results {
		rule(&b, i, "results", "tool", quote(pattern(r.Tool)), "note", optional(r.Note))
	}
	return []byte(b.String())
}

// rule writes the item with index i of a list, without empty members.
func rule(b *strings.Builder, i int, list string, pairs ...string) {
	if i == 0 {
		b.WriteString(list + ":\n")
	}
	lead := "  - "
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(lead + pairs[i] + ": " + pairs[i+1] + "\n")
			lead = "    "
		}
	}
}

func optional(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

// quote returns a text as a YAML string: a JSON string in ASCII.
func quote(text string) string { return strconv.QuoteToASCII(text) }

// pattern escapes a name for a member that may be a pattern.
func pattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

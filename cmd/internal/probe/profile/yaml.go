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
	if len(p.Masks) > 0 {
		b.WriteString("masks:\n")
	}
	for _, m := range p.Masks {
		rule(&b, "tool", quote(pattern(m.Tool)), "path", optional(m.Path), "equals", m.Equals, "text", optional(m.Text), "except", optional(m.Except), "code", m.Code.Symbol(), "note", optional(m.Note))
	}
	if len(p.Codes) > 0 {
		b.WriteString("codes:\n")
	}
	for _, c := range p.Codes {
		rule(&b, "tool", quote(pattern(c.Tool)), "text", optional(c.Text), "code", c.Code.Symbol(), "note", optional(c.Note))
	}
	if len(p.Results) > 0 {
		b.WriteString("results:\n")
	}
	for _, r := range p.Results {
		rule(&b, "tool", quote(pattern(r.Tool)), "note", optional(r.Note))
	}
	return []byte(b.String())
}

// rule writes an item of a list without empty members.
func rule(b *strings.Builder, pairs ...string) {
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

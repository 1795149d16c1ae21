package render

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue"
)

// goCodes writes codes_gen.go. The types it fills are declared in code.go.
func goCodes(in Input, out Files) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage candor\n\n", Header)
	if err := goVars(&b, in.Catalogue); err != nil {
		return err
	}
	goTable(&b, in.Catalogue)
	goDomains(&b, in.Catalogue)
	return addGo(out, "codes_gen.go", b.Bytes())
}

func addGo(out Files, name string, source []byte) error {
	pretty, err := format.Source(source)
	if err != nil {
		return fmt.Errorf("formatting %s: %w", name, err)
	}
	out[name] = pretty
	return nil
}

// goVars declares one variable per code. Two codes that would share a Go name are refused here,
// where both can be named, and not by the compiler.
func goVars(b *bytes.Buffer, c *catalogue.Catalogue) error {
	taken := map[string]string{}
	for _, d := range c.Domains {
		fmt.Fprintf(b, "// Codes of the domain %s: %s\nvar (\n", d.Name, d.About)
		for i, code := range c.Codes {
			if code.Domain != d.Name {
				continue
			}
			name := GoName(code)
			if other := taken[name]; other != "" {
				return fmt.Errorf("%s and %s would both be called %s in Go", other, code.ID(), name)
			}
			taken[name] = code.ID()
			fmt.Fprintf(b, "\t// %s is %s, number %d. %s\n\t%s = Code{%d}\n", name, code.Symbol, code.Number, code.Message, name, i+1)
		}
		b.WriteString(")\n\n")
	}
	return nil
}

func goTable(b *bytes.Buffer, c *catalogue.Catalogue) {
	index := map[string]int{}
	for i, code := range c.Codes {
		index[code.ID()] = i + 1
	}
	b.WriteString("// catalogue has a row per code, in the order of numbers. Row 0 belongs to the zero Code.\n")
	b.WriteString("var catalogue = [...]codeInfo{\n\t{},\n")
	for _, code := range c.Codes {
		b.WriteString("\t{\n")
		goRow(b, code, index[code.Successor])
		b.WriteString("\t},\n")
	}
	b.WriteString("}\n\n")
}

func goRow(b *bytes.Buffer, c catalogue.Code, successor int) {
	fmt.Fprintf(b, "symbol: %q, domain: %q, number: %d", c.Symbol, c.Domain, c.Number)
	if c.RPC != 0 {
		fmt.Fprintf(b, ", rpc: %d", c.RPC)
	}
	fmt.Fprintf(b, ",\nclass: Class%s, retry: %s, since: %q, status: Status%s,\n", camel(c.Class), goRetry(c), c.Since, camel(c.Status))
	if successor != 0 {
		fmt.Fprintf(b, "successor: %d,\n", successor)
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "aliases: %#v,\n", c.Aliases)
	}
	fmt.Fprintf(b, "message: %q,\naction: %q,\n", c.Message, c.Action)
}

func goRetry(c catalogue.Code) string {
	switch c.Retry {
	case catalogue.RetryImmediate:
		return "Retry{kind: 1}"
	case catalogue.RetryAfterMs:
		return fmt.Sprintf("Retry{kind: 2, afterMs: %d}", c.AfterMs)
	default:
		return "Retry{}"
	}
}

func goDomains(b *bytes.Buffer, c *catalogue.Catalogue) {
	b.WriteString("// domains has a row per domain, in the order of numbers.\nvar domains = [...]domainInfo{\n")
	for _, d := range c.Domains {
		fmt.Fprintf(b, "\t{name: %q, from: %d, to: %d, title: %q},\n", d.Name, d.From, d.To, d.Title)
	}
	b.WriteString("}\n")
}

// GoName returns the name of a code's variable: Code, the domain unless it is candor's own, and the
// symbol without a leading E_.
func GoName(c catalogue.Code) string {
	symbol := camel(strings.TrimPrefix(c.Symbol, "E_"))
	if c.Domain == "candor" {
		return "Code" + symbol
	}
	return "Code" + camel(c.Domain) + symbol
}

// camel turns UPPER_SNAKE, lower_snake and kebab-case into CamelCase.
func camel(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
	}
	return b.String()
}

package render

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"github.com/candor-mcp/candor/internal/catalogue"
)

// ownDomain is the domain with codes that are declared in the root package.
const ownDomain = "candor"

// goCodes writes codes_gen.go in the root package, which has the table of all codes, and one package below codes for every domain
// except Candor's own. The types of the table are declared in code.go.
func goCodes(in *catalogue.Catalogue, out Files) error {
	if err := checkNames(in); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage candor\n\n", Header)
	goOwn(&b, in)
	goShared(&b, in)
	goTable(&b, in)
	goDomains(&b, in)
	if err := addGo(out, "codes_gen.go", b.Bytes()); err != nil {
		return err
	}
	for _, d := range in.Domains {
		if d.Name == ownDomain {
			continue
		}
		if err := goPackage(in, d, out); err != nil {
			return err
		}
	}
	return nil
}

func addGo(out Files, name string, source []byte) error {
	pretty, err := format.Source(source)
	if err != nil {
		return fmt.Errorf("formatting %s: %w", name, err)
	}
	out[name] = pretty
	return nil
}

// checkNames returns an error that names both codes if two codes would share a Go name.
func checkNames(c *catalogue.Catalogue) error {
	taken := map[string]string{}
	for _, code := range c.Codes {
		name := goPackageName(code.Domain) + "." + GoName(code)
		if other := taken[name]; other != "" {
			return fmt.Errorf("%s and %s both have the Go name %s", other, code.ID(), name)
		}
		taken[name] = code.ID()
	}
	return nil
}

// goOwn declares a constant for each of Candor's own codes.
func goOwn(b *bytes.Buffer, c *catalogue.Catalogue) {
	b.WriteString("// The codes of the domain candor.\nconst (\n")
	for _, code := range c.Codes {
		if code.Domain == ownDomain {
			goConst(b, code, GoName(code), "Code")
		}
	}
	b.WriteString(")\n\n")
}

// sharedNames are the codes of other domains that the root package uses itself.
var sharedNames = []struct{ id, name string }{
	{"kaiza/FILE_NOT_FOUND", "codeFileNotFound"},
	{"kaiza/FILE_ALREADY_EXISTS", "codeFileAlreadyExists"},
	{"kaiza/INVALID_PATH", "codeInvalidPath"},
	{"kaiza/INSUFFICIENT_PERMISSIONS", "codeInsufficientPermissions"},
	{"kaiza/INVALID_INPUT_TYPE", "codeInvalidInputType"},
	{"kaiza/INVALID_INPUT_FORMAT", "codeInvalidInputFormat"},
}

// goShared declares the constants of sharedNames.
func goShared(b *bytes.Buffer, c *catalogue.Catalogue) {
	b.WriteString("// Codes of other domains that this package uses.\nconst (\n")
	for _, shared := range sharedNames {
		for _, code := range c.Codes {
			if code.ID() == shared.id {
				goConst(b, code, shared.name, "Code")
			}
		}
	}
	b.WriteString(")\n\n")
}

// goPackage writes the package of one domain.
func goPackage(c *catalogue.Catalogue, d catalogue.Domain, out Files) error {
	name := goPackageName(d.Name)
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n// Package %s has the codes of the domain %s: %s\npackage %s\n\n", Header, name, d.Name, lowerFirst(d.About), name)
	b.WriteString("import \"github.com/candor-mcp/candor\"\n\n")
	fmt.Fprintf(&b, "// The codes of the domain %s.\nconst (\n", d.Name)
	for _, code := range c.Codes {
		if code.Domain == d.Name {
			goConst(&b, code, GoName(code), "candor.Code")
		}
	}
	b.WriteString(")\n")
	return addGo(out, "codes/"+name+"/codes_gen.go", b.Bytes())
}

func goConst(b *bytes.Buffer, code catalogue.Code, name, typ string) {
	fmt.Fprintf(b, "\t// %s is %s. %s\n\t%s %s = %d\n", name, code.ID(), code.Message, name, typ, code.Number)
}

func goTable(b *bytes.Buffer, c *catalogue.Catalogue) {
	number := map[string]int{}
	for _, code := range c.Codes {
		number[code.ID()] = code.Number
	}
	b.WriteString("// catalogue has a row per code, in the order of numbers. Row 0 belongs to all codes that are not registered.\n")
	b.WriteString("var catalogue = [...]codeInfo{\n\t{},\n")
	for _, code := range c.Codes {
		b.WriteString("\t{\n")
		goRow(b, code, number[code.Successor])
		b.WriteString("\t},\n")
	}
	b.WriteString("}\n\n")
}

func goRow(b *bytes.Buffer, c catalogue.Code, successor int) {
	fmt.Fprintf(b, "symbol: %q, domain: %q, number: %d", c.Symbol, c.Domain, c.Number)
	if c.RPC != 0 {
		fmt.Fprintf(b, ", rpc: %d", c.RPC)
	}
	fmt.Fprintf(b, ",\nclass: Class%s, retry: %s, since: %q, status: status%s,\n", camel(c.Class), goRetry(c), c.Since, camel(c.Status))
	if c.Effect != "" {
		fmt.Fprintf(b, "effect: %q,\n", c.Effect)
	}
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
	b.WriteString("// domains has a row per domain, in the order of numbers.\nvar domains = [...]Domain{\n")
	for _, d := range c.Domains {
		fmt.Fprintf(b, "\t{Name: %q, From: %d, To: %d, Title: %q},\n", d.Name, d.From, d.To, d.Title)
	}
	b.WriteString("}\n")
}

// symbolPrefixes are the abbreviations of a domain that its symbols repeat and its Go names omit.
var symbolPrefixes = map[string]string{
	"python": "PY_", "playwright": "PW_", "puppeteer": "PT_", "memory-bank": "MB_", "kg": "KG_", "filesystem": "FS_",
	"sql": "SQL_", "notion": "NOTION_", "tavily": "TAVILY_", "rate-limit": "RL_", "github": "GH_", "dual": "ERR_",
}

// ledgerNames are the Go names of the codes for a ledger that cannot record. Their symbols come from the KAIZA contract.
var ledgerNames = map[string]string{"candor/AUDIT_LOG_FAILED": "CodeLedgerFailed", "candor/AUDIT_LOCK_FAILED": "CodeLedgerLocked"}

// GoName returns the name of a code's constant in the package of its domain. The names of Candor's own codes begin with Code,
// because the root package declares more than codes.
func GoName(c catalogue.Code) string {
	if name := ledgerNames[c.ID()]; name != "" {
		return name
	}
	symbol := strings.TrimPrefix(c.Symbol, "E_")
	if c.Domain == ownDomain {
		return "Code" + camel(symbol)
	}
	return camel(strings.TrimPrefix(symbol, symbolPrefixes[c.Domain]))
}

// goPackageName returns the name of a domain's package.
func goPackageName(domain string) string { return strings.ReplaceAll(domain, "-", "") }

// initialisms are the words that Go names write in capitals.
var initialisms = map[string]bool{"API": true, "DB": true, "HTTP": true, "ID": true, "JSON": true, "SQL": true, "URL": true}

// camel turns UPPER_SNAKE, lower_snake and kebab-case into CamelCase.
func camel(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' }) {
		upper := strings.ToUpper(word)
		if initialisms[upper] {
			b.WriteString(upper)
			continue
		}
		b.WriteString(upper[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// lowerFirst returns s with its first letter in lower case, to continue a sentence, unless its first word is an initialism.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

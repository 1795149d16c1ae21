package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/browser"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/filesystem"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/github"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/kg"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/memorybank"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/notion"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/python"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/sql"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/tavily"
)

// registry lists every domain, in display order.
var registry = []known{
	{name: memorybank.Name, prefix: "mb", byDefault: true, open: memorybank.Open},
	{name: kg.Name, prefix: "kg", byDefault: true, open: kg.Open},
	{name: filesystem.Name, prefix: "fs", open: filesystem.Open},
	{name: sql.Name, prefix: "sql", open: sql.Open},
	{name: browser.Playwright, prefix: "pw", open: browser.Open(browser.Playwright)},
	{name: browser.Puppeteer, prefix: "pt", twin: true, open: browser.Open(browser.Puppeteer)},
	{name: python.Name, prefix: "py", open: python.Open},
	{name: notion.Name, prefix: "notion", open: notion.Open},
	{name: tavily.Name, prefix: "tavily", open: tavily.Open},
	{name: github.Name, prefix: "github", open: github.Open},
}

// known is one domain that this program can serve.
type known struct {
	name      string
	prefix    string // prefix of its method names, without the slash
	byDefault bool   // enabled unless other domains are selected
	twin      bool   // has the methods of another domain under other names; not part of "all"
	open      func(domain.Environment) (domain.Domain, error)
}

// DefaultDomains returns the names of the domains that are enabled by default.
func DefaultDomains() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return !lookup(name).byDefault })
}

// Names returns the names of all domains that this program can serve.
func Names() []string {
	names := make([]string, len(registry))
	for i := range registry {
		names[i] = registry[i].name
	}
	return names
}

// ParseDomains parses a list of domains, such as "kg,filesystem" or "all". An empty list selects the default domains.
func ParseDomains(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return DefaultDomains(), nil
	}
	return SelectDomains(strings.Split(list, ","))
}

// SelectDomains returns the named domains in the order of [Names], each once. "all" selects every domain except twins of others.
func SelectDomains(names []string) ([]string, error) {
	chosen := make([]string, 0, len(registry))
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "all" {
			chosen = append(chosen, slices.DeleteFunc(Names(), func(name string) bool { return lookup(name).twin })...)
			continue
		}
		if lookup(name) == nil {
			return nil, fmt.Errorf("unknown domain %q; allowed: all, %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, name)
	}
	return slices.DeleteFunc(Names(), func(name string) bool { return !slices.Contains(chosen, name) }), nil
}

func lookup(name string) *known {
	for i := range registry {
		if registry[i].name == name {
			return &registry[i]
		}
	}
	return nil
}

// ownerOf returns the domain that a method belongs to by its name, nil if no domain has such methods.
func ownerOf(method string) *known {
	prefix, _, _ := strings.Cut(method, "/")
	for i := range registry {
		if registry[i].prefix == prefix {
			return &registry[i]
		}
	}
	return nil
}

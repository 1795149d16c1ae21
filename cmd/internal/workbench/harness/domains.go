package harness

import (
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
	{name: memorybank.Name, prefix: "mb", byDefault: true, open: openMemoryBank},
	{name: kg.Name, prefix: "kg", byDefault: true, open: openKG},
	{name: filesystem.Name, prefix: "fs", open: openFilesystem},
	{name: sql.Name, prefix: "sql", open: openSQL},
	{name: browser.Playwright, prefix: "pw", needs: "Chromium", open: openBrowser(browser.Playwright)},
	{name: browser.Puppeteer, prefix: "pt", needs: "Chromium", open: openBrowser(browser.Puppeteer)},
	{name: python.Name, prefix: "py", needs: "python3", open: openPython},
	{name: notion.Name, prefix: "notion", needs: "NOTION_TOKEN", open: openNotion},
	{name: tavily.Name, prefix: "tavily", needs: "TAVILY_API_KEY", open: openTavily},
	{name: github.Name, prefix: "github", needs: "GITHUB_TOKEN", open: openGitHub},
}

func openBrowser(name string) func(Environment) (domain.Domain, error) {
	return func(env Environment) (domain.Domain, error) {
		config, err := browser.ConfigFromEnv(env.Getenv)
		if err != nil {
			return domain.Domain{}, err
		}
		config.Name, config.Guard, config.Logger = name, env.Guard, env.Logger
		return browser.New(config)
	}
}

func openPython(env Environment) (domain.Domain, error) {
	config, err := python.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	config.Guard = env.Guard
	return opened(python.New(config))
}

func openNotion(env Environment) (domain.Domain, error) {
	config, err := notion.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	return opened(notion.New(config))
}

func openTavily(env Environment) (domain.Domain, error) {
	config, err := tavily.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	return opened(tavily.New(config))
}

func openGitHub(env Environment) (domain.Domain, error) {
	config, err := github.ConfigFromEnv(env.Getenv)
	if err != nil {
		return domain.Domain{}, err
	}
	return opened(github.New(config))
}

// opened converts the result of a domain's New.
func opened(d *domain.Domain, err error) (domain.Domain, error) {
	if err != nil {
		return domain.Domain{}, err
	}
	return *d, nil
}

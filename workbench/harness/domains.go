package harness

import (
	"github.com/candor-mcp/candor/workbench/harness/browser"
	"github.com/candor-mcp/candor/workbench/harness/domain"
	"github.com/candor-mcp/candor/workbench/harness/filesystem"
	"github.com/candor-mcp/candor/workbench/harness/kg"
	"github.com/candor-mcp/candor/workbench/harness/memorybank"
	"github.com/candor-mcp/candor/workbench/harness/python"
)

// registry lists every domain, in the order in which they are shown.
var registry = []known{
	{name: memorybank.Name, prefix: "mb", open: openMemoryBank},
	{name: kg.Name, prefix: "kg", open: openKG},
	{name: filesystem.Name, prefix: "fs", open: openFilesystem},
	{name: browser.Playwright, prefix: "pw", needs: "Chromium", open: openBrowser(browser.Playwright)},
	{name: browser.Puppeteer, prefix: "pt", needs: "Chromium", open: openBrowser(browser.Puppeteer)},
	{name: python.Name, prefix: "py", needs: "python3", open: openPython},
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

// opened turns the result of a domain's New into the value that the harness keeps.
func opened(d *domain.Domain, err error) (domain.Domain, error) {
	if err != nil {
		return domain.Domain{}, err
	}
	return *d, nil
}

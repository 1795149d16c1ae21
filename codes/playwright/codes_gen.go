// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package playwright has the codes of the domain playwright: driving a browser through Playwright.
package playwright

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain playwright.
var (
	// Nav is playwright/E_PW_NAV, number 2100. Playwright could not load the page.
	Nav = candor.CodeAt(codetable.At(13))
	// Launch is playwright/E_PW_LAUNCH, number 2101. Playwright could not start a browser.
	Launch = candor.CodeAt(codetable.At(14))
	// Timeout is playwright/E_PW_TIMEOUT, number 2102. Playwright did not finish the step in time.
	Timeout = candor.CodeAt(codetable.At(15))
	// InvalidSelector is playwright/E_PW_INVALID_SELECTOR, number 2103. Playwright cannot use this selector.
	InvalidSelector = candor.CodeAt(codetable.At(16))
)

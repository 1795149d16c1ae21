// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package playwright has the codes of the domain playwright: driving a browser through Playwright.
package playwright

import "github.com/candor-mcp/candor"

// The codes of the domain playwright.
const (
	// Nav is playwright/E_PW_NAV. Navigation failed
	Nav candor.Code = 2100
	// Launch is playwright/E_PW_LAUNCH. Playwright could not start a browser.
	Launch candor.Code = 2101
	// Timeout is playwright/E_PW_TIMEOUT. Playwright did not finish the step in time.
	Timeout candor.Code = 2102
	// InvalidSelector is playwright/E_PW_INVALID_SELECTOR. Playwright cannot use this selector.
	InvalidSelector candor.Code = 2103
)

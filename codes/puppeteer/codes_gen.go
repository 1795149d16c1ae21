// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package puppeteer has the codes of the domain puppeteer: driving a browser through Puppeteer.
package puppeteer

import "github.com/candor-mcp/candor"

// The codes of the domain puppeteer.
const (
	// Nav is puppeteer/E_PT_NAV. Navigation failed
	Nav candor.Code = 2200
	// Launch is puppeteer/E_PT_LAUNCH. Puppeteer could not start a browser.
	Launch candor.Code = 2201
	// Timeout is puppeteer/E_PT_TIMEOUT. Puppeteer did not finish the step in time.
	Timeout candor.Code = 2202
	// InvalidSelector is puppeteer/E_PT_INVALID_SELECTOR. Puppeteer cannot use this selector.
	InvalidSelector candor.Code = 2203
)

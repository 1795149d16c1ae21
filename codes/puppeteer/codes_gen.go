// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package puppeteer has the codes of the domain puppeteer: driving a browser through Puppeteer.
package puppeteer

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain puppeteer.
var (
	// Nav is puppeteer/E_PT_NAV, number 2200. Puppeteer could not load the page.
	Nav = candor.CodeAt(codetable.At(17))
	// Launch is puppeteer/E_PT_LAUNCH, number 2201. Puppeteer could not start a browser.
	Launch = candor.CodeAt(codetable.At(18))
	// Timeout is puppeteer/E_PT_TIMEOUT, number 2202. Puppeteer did not finish the step in time.
	Timeout = candor.CodeAt(codetable.At(19))
	// InvalidSelector is puppeteer/E_PT_INVALID_SELECTOR, number 2203. Puppeteer cannot use this selector.
	InvalidSelector = candor.CodeAt(codetable.At(20))
)

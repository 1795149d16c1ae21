// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package notion has the codes of the domain notion: talking to the Notion service.
package notion

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain notion.
var (
	// Auth is notion/E_NOTION_AUTH, number 2700. Notion did not accept the credentials.
	Auth = candor.CodeAt(codetable.At(31))
	// Rate is notion/E_NOTION_RATE, number 2701. Notion asks for fewer calls.
	Rate = candor.CodeAt(codetable.At(32))
	// NotFound is notion/E_NOTION_NOT_FOUND, number 2702. Notion has nothing under this id, or the integration may not see it.
	NotFound = candor.CodeAt(codetable.At(33))
	// Network is notion/E_NOTION_NETWORK, number 2703. Notion could not be reached.
	Network = candor.CodeAt(codetable.At(34))
	// HTTP is notion/E_NOTION_HTTP, number 2704. Notion answered with an error.
	HTTP = candor.CodeAt(codetable.At(35))
	// Parse is notion/E_NOTION_PARSE, number 2705. The answer from Notion could not be read.
	Parse = candor.CodeAt(codetable.At(36))
)

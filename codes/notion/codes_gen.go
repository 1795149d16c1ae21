// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package notion has the codes of the domain notion: talking to the Notion service.
package notion

import "github.com/candor-mcp/candor"

// The codes of the domain notion.
const (
	// Auth is notion/E_NOTION_AUTH. Notion did not accept the credentials.
	Auth candor.Code = 2700
	// Rate is notion/E_NOTION_RATE. Notion limits the rate of calls.
	Rate candor.Code = 2701
	// NotFound is notion/E_NOTION_NOT_FOUND. Notion has nothing under this id, or the integration may not see it.
	NotFound candor.Code = 2702
	// Network is notion/E_NOTION_NETWORK. Notion could not be reached.
	Network candor.Code = 2703
	// HTTP is notion/E_NOTION_HTTP. Notion answered with an error.
	HTTP candor.Code = 2704
	// Parse is notion/E_NOTION_PARSE. The answer from Notion could not be read.
	Parse candor.Code = 2705
)

// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package tavily has the codes of the domain tavily: talking to the Tavily search service.
package tavily

import "github.com/candor-mcp/candor"

// The codes of the domain tavily.
const (
	// HTTP is tavily/E_TAVILY_HTTP. Tavily answered with an error.
	HTTP candor.Code = 2800
	// Rate is tavily/E_TAVILY_RATE. Tavily limits the rate of searches.
	Rate candor.Code = 2801
	// AuthMissing is tavily/E_TAVILY_AUTH_MISSING. No Tavily key is configured.
	AuthMissing candor.Code = 2802
	// AuthFailed is tavily/E_TAVILY_AUTH_FAILED. Tavily did not accept the key.
	AuthFailed candor.Code = 2803
	// Network is tavily/E_TAVILY_NETWORK. Tavily could not be reached.
	Network candor.Code = 2804
	// InvalidParams is tavily/E_TAVILY_INVALID_PARAMS. The search parameters are invalid.
	InvalidParams candor.Code = 2805
	// Parse is tavily/E_TAVILY_PARSE. The answer from Tavily could not be read.
	Parse candor.Code = 2806
)

// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package tavily has the codes of the domain tavily: talking to the Tavily search service.
package tavily

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain tavily.
var (
	// HTTP is tavily/E_TAVILY_HTTP, number 2800. Tavily answered with an error.
	HTTP = candor.CodeAt(codetable.At(37))
	// Rate is tavily/E_TAVILY_RATE, number 2801. Tavily asks for fewer searches.
	Rate = candor.CodeAt(codetable.At(38))
	// AuthMissing is tavily/E_TAVILY_AUTH_MISSING, number 2802. No Tavily key is configured.
	AuthMissing = candor.CodeAt(codetable.At(39))
	// AuthFailed is tavily/E_TAVILY_AUTH_FAILED, number 2803. Tavily did not accept the key.
	AuthFailed = candor.CodeAt(codetable.At(40))
	// Network is tavily/E_TAVILY_NETWORK, number 2804. Tavily could not be reached.
	Network = candor.CodeAt(codetable.At(41))
	// InvalidParams is tavily/E_TAVILY_INVALID_PARAMS, number 2805. The search parameters do not fit.
	InvalidParams = candor.CodeAt(codetable.At(42))
	// Parse is tavily/E_TAVILY_PARSE, number 2806. The answer from Tavily could not be read.
	Parse = candor.CodeAt(codetable.At(43))
)

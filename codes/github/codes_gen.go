// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package github has the codes of the domain github: talking to the GitHub service.
package github

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain github.
var (
	// AuthMissing is github/E_GH_AUTH_MISSING, number 3100. No GitHub token is configured.
	AuthMissing = candor.CodeAt(codetable.At(46))
	// AuthFailed is github/E_GH_AUTH_FAILED, number 3101. GitHub did not accept the token.
	AuthFailed = candor.CodeAt(codetable.At(47))
	// Network is github/E_GH_NETWORK, number 3102. GitHub could not be reached.
	Network = candor.CodeAt(codetable.At(48))
	// HTTP is github/E_GH_HTTP, number 3103. GitHub answered with an error.
	HTTP = candor.CodeAt(codetable.At(49))
	// RateLimit is github/E_GH_RATE_LIMIT, number 3104. GitHub asks for fewer calls.
	RateLimit = candor.CodeAt(codetable.At(50))
	// NotFound is github/E_GH_NOT_FOUND, number 3105. GitHub has nothing under this name, or the token may not see it.
	NotFound = candor.CodeAt(codetable.At(51))
	// Parse is github/E_GH_PARSE, number 3106. The answer from GitHub could not be read.
	Parse = candor.CodeAt(codetable.At(52))
)

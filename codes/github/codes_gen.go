// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package github has the codes of the domain github: talking to the GitHub service.
package github

import "github.com/candor-mcp/candor"

// The codes of the domain github.
const (
	// AuthMissing is github/E_GH_AUTH_MISSING. No GitHub token is configured.
	AuthMissing candor.Code = 3100
	// AuthFailed is github/E_GH_AUTH_FAILED. GitHub did not accept the token.
	AuthFailed candor.Code = 3101
	// Network is github/E_GH_NETWORK. GitHub could not be reached.
	Network candor.Code = 3102
	// HTTP is github/E_GH_HTTP. GitHub answered with an error.
	HTTP candor.Code = 3103
	// RateLimit is github/E_GH_RATE_LIMIT. GitHub limits the rate of calls.
	RateLimit candor.Code = 3104
	// NotFound is github/E_GH_NOT_FOUND. GitHub has nothing under this name, or the token may not see it.
	NotFound candor.Code = 3105
	// Parse is github/E_GH_PARSE. The answer from GitHub could not be read.
	Parse candor.Code = 3106
)

// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package ratelimit has the codes of the domain rate-limit: a server protecting itself from too many calls.
package ratelimit

import "github.com/candor-mcp/candor"

// The codes of the domain rate-limit.
const (
	// Exceeded is rate-limit/E_RL_EXCEEDED. Too many calls arrived in a short time.
	Exceeded candor.Code = 3000
)

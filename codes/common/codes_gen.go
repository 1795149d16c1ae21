// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package common has the codes of the domain common: failures that any server of the numeric taxonomy may have.
package common

import "github.com/candor-mcp/candor"

// The codes of the domain common.
const (
	// InvalidParams is common/E_INVALID_PARAMS. Invalid parameters
	InvalidParams candor.Code = 1000
	// Timeout is common/E_TIMEOUT. Operation timed out
	Timeout candor.Code = 1001
	// LimitExceeded is common/E_LIMIT_EXCEEDED. Limit exceeded
	LimitExceeded candor.Code = 1002
	// NotInstalled is common/E_NOT_INSTALLED. Dependency not installed
	NotInstalled candor.Code = 1003
	// SessionNotFound is common/E_SESSION_NOT_FOUND. Session not found
	SessionNotFound candor.Code = 1004
	// InputTooLarge is common/E_INPUT_TOO_LARGE. Input too large
	InputTooLarge candor.Code = 1005
	// Unsupported is common/E_UNSUPPORTED. Unsupported operation
	Unsupported candor.Code = 1006
)

// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package common has the codes of the domain common: failures that any server of the numeric taxonomy may have.
package common

import "github.com/candor-mcp/candor"

// The codes of the domain common.
const (
	// InvalidParams is common/E_INVALID_PARAMS. A parameter is missing or invalid.
	InvalidParams candor.Code = 1000
	// Timeout is common/E_TIMEOUT. The operation did not finish in time.
	Timeout candor.Code = 1001
	// LimitExceeded is common/E_LIMIT_EXCEEDED. A limit of the server was exceeded.
	LimitExceeded candor.Code = 1002
	// NotInstalled is common/E_NOT_INSTALLED. A program or library that the server depends on is not installed.
	NotInstalled candor.Code = 1003
	// SessionNotFound is common/E_SESSION_NOT_FOUND. No session has this id.
	SessionNotFound candor.Code = 1004
	// InputTooLarge is common/E_INPUT_TOO_LARGE. An input is larger than the server accepts.
	InputTooLarge candor.Code = 1005
	// Unsupported is common/E_UNSUPPORTED. The server does not offer this operation.
	Unsupported candor.Code = 1006
)

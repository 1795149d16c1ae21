// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package common has the codes of the domain common: failures that any server of the numeric taxonomy may have.
package common

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain common.
var (
	// InvalidParams is common/E_INVALID_PARAMS, number 1000. A parameter is missing or does not fit.
	InvalidParams = candor.CodeAt(codetable.At(1))
	// Timeout is common/E_TIMEOUT, number 1001. The operation did not finish in time.
	Timeout = candor.CodeAt(codetable.At(2))
	// LimitExceeded is common/E_LIMIT_EXCEEDED, number 1002. A limit of the server was exceeded.
	LimitExceeded = candor.CodeAt(codetable.At(3))
	// NotInstalled is common/E_NOT_INSTALLED, number 1003. A program or library that the server depends on is not installed.
	NotInstalled = candor.CodeAt(codetable.At(4))
	// SessionNotFound is common/E_SESSION_NOT_FOUND, number 1004. No session has this id.
	SessionNotFound = candor.CodeAt(codetable.At(5))
	// InputTooLarge is common/E_INPUT_TOO_LARGE, number 1005. An input is larger than the server accepts.
	InputTooLarge = candor.CodeAt(codetable.At(6))
	// Unsupported is common/E_UNSUPPORTED, number 1006. The server does not offer this operation.
	Unsupported = candor.CodeAt(codetable.At(7))
)

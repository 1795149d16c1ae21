// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package workrail has the codes of the domain workrail: step-by-step workflows that advance by opaque tokens.
package workrail

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain workrail.
var (
	// ValidationError is workrail/VALIDATION_ERROR, number 3300. The input of the workflow tool is not valid.
	ValidationError = candor.CodeAt(codetable.At(88))
	// NotFound is workrail/NOT_FOUND, number 3301. No workflow or session has this id.
	NotFound = candor.CodeAt(codetable.At(89))
	// PreconditionFailed is workrail/PRECONDITION_FAILED, number 3302. The workflow is not in a state that allows this.
	PreconditionFailed = candor.CodeAt(codetable.At(90))
	// Timeout is workrail/TIMEOUT, number 3303. The workflow took too long to load.
	Timeout = candor.CodeAt(codetable.At(91))
	// InternalError is workrail/INTERNAL_ERROR, number 3304. The workflow engine met an unexpected error.
	InternalError = candor.CodeAt(codetable.At(92))
	// TokenInvalidFormat is workrail/TOKEN_INVALID_FORMAT, number 3305. The token is not well formed.
	TokenInvalidFormat = candor.CodeAt(codetable.At(93))
	// TokenUnsupportedVersion is workrail/TOKEN_UNSUPPORTED_VERSION, number 3306. The token is of a version that is not supported.
	TokenUnsupportedVersion = candor.CodeAt(codetable.At(94))
	// TokenBadSignature is workrail/TOKEN_BAD_SIGNATURE, number 3307. The signature of the token is wrong.
	TokenBadSignature = candor.CodeAt(codetable.At(95))
	// TokenScopeMismatch is workrail/TOKEN_SCOPE_MISMATCH, number 3308. The token is not meant for this use.
	TokenScopeMismatch = candor.CodeAt(codetable.At(96))
	// TokenUnknownNode is workrail/TOKEN_UNKNOWN_NODE, number 3309. No stored workflow state belongs to this token.
	TokenUnknownNode = candor.CodeAt(codetable.At(97))
	// TokenWorkflowHashMismatch is workrail/TOKEN_WORKFLOW_HASH_MISMATCH, number 3310. The workflow has changed since the token was issued.
	TokenWorkflowHashMismatch = candor.CodeAt(codetable.At(98))
	// TokenSessionLocked is workrail/TOKEN_SESSION_LOCKED, number 3311. Another operation is changing this session.
	TokenSessionLocked = candor.CodeAt(codetable.At(99))
	// SessionNotHealthy is workrail/SESSION_NOT_HEALTHY, number 3312. The stored data of this session are damaged.
	SessionNotHealthy = candor.CodeAt(codetable.At(100))
)

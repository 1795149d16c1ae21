// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package workrail has the codes of the domain workrail: step-by-step workflows that advance by opaque tokens.
package workrail

import "github.com/candor-mcp/candor"

// The codes of the domain workrail.
const (
	// ValidationError is workrail/VALIDATION_ERROR. The input of the workflow tool is not valid.
	ValidationError candor.Code = 3300
	// NotFound is workrail/NOT_FOUND. No workflow or session has this id.
	NotFound candor.Code = 3301
	// PreconditionFailed is workrail/PRECONDITION_FAILED. The workflow is not in a state that allows this.
	PreconditionFailed candor.Code = 3302
	// Timeout is workrail/TIMEOUT. The workflow took too long to load.
	Timeout candor.Code = 3303
	// InternalError is workrail/INTERNAL_ERROR. The workflow engine met an unexpected error.
	InternalError candor.Code = 3304
	// TokenInvalidFormat is workrail/TOKEN_INVALID_FORMAT. The token is malformed.
	TokenInvalidFormat candor.Code = 3305
	// TokenUnsupportedVersion is workrail/TOKEN_UNSUPPORTED_VERSION. The version of the token is not supported.
	TokenUnsupportedVersion candor.Code = 3306
	// TokenBadSignature is workrail/TOKEN_BAD_SIGNATURE. The signature of the token is wrong.
	TokenBadSignature candor.Code = 3307
	// TokenScopeMismatch is workrail/TOKEN_SCOPE_MISMATCH. The token cannot be used for this call.
	TokenScopeMismatch candor.Code = 3308
	// TokenUnknownNode is workrail/TOKEN_UNKNOWN_NODE. No stored workflow state belongs to this token.
	TokenUnknownNode candor.Code = 3309
	// TokenWorkflowHashMismatch is workrail/TOKEN_WORKFLOW_HASH_MISMATCH. The workflow has changed since the token was issued.
	TokenWorkflowHashMismatch candor.Code = 3310
	// TokenSessionLocked is workrail/TOKEN_SESSION_LOCKED. Another operation is changing this session.
	TokenSessionLocked candor.Code = 3311
	// SessionNotHealthy is workrail/SESSION_NOT_HEALTHY. The stored data of this session is damaged.
	SessionNotHealthy candor.Code = 3312
)

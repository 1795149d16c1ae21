// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package kaiza has the codes of the domain kaiza: the governed workspace with sessions, roles, approved plans, policies and an audit trail.
package kaiza

import "github.com/candor-mcp/candor"

// The codes of the domain kaiza.
const (
	// SessionNotInitialized is kaiza/SESSION_NOT_INITIALIZED. No session has been started.
	SessionNotInitialized candor.Code = 3200
	// SessionLocked is kaiza/SESSION_LOCKED. The session is locked because an earlier call failed.
	SessionLocked candor.Code = 3201
	// SessionInitializationFailed is kaiza/SESSION_INITIALIZATION_FAILED. The session could not be set up.
	SessionInitializationFailed candor.Code = 3202
	// InvalidInputType is kaiza/INVALID_INPUT_TYPE. An argument has the wrong type.
	InvalidInputType candor.Code = 3203
	// InvalidInputFormat is kaiza/INVALID_INPUT_FORMAT. An argument is malformed.
	InvalidInputFormat candor.Code = 3204
	// InvalidInputValue is kaiza/INVALID_INPUT_VALUE. An argument has a value that is not allowed.
	InvalidInputValue candor.Code = 3205
	// MissingRequiredField is kaiza/MISSING_REQUIRED_FIELD. A required argument is missing.
	MissingRequiredField candor.Code = 3206
	// UnauthorizedAction is kaiza/UNAUTHORIZED_ACTION. The current role may not do this.
	UnauthorizedAction candor.Code = 3207
	// InsufficientPermissions is kaiza/INSUFFICIENT_PERMISSIONS. The caller lacks a permission that this action needs.
	InsufficientPermissions candor.Code = 3208
	// RoleMismatch is kaiza/ROLE_MISMATCH. The role named in the call is not the role of the session.
	RoleMismatch candor.Code = 3209
	// InvalidPath is kaiza/INVALID_PATH. The path is malformed.
	InvalidPath candor.Code = 3210
	// PathNotFound is kaiza/PATH_NOT_FOUND. A folder of this path does not exist.
	PathNotFound candor.Code = 3211
	// PathTraversalBlocked is kaiza/PATH_TRAVERSAL_BLOCKED. The path leaves its folder through "..".
	PathTraversalBlocked candor.Code = 3212
	// OutsideWorkspace is kaiza/OUTSIDE_WORKSPACE. The path lies outside the workspace.
	OutsideWorkspace candor.Code = 3213
	// FileNotFound is kaiza/FILE_NOT_FOUND. The file does not exist.
	FileNotFound candor.Code = 3214
	// FileAlreadyExists is kaiza/FILE_ALREADY_EXISTS. The file already exists.
	FileAlreadyExists candor.Code = 3215
	// FileReadFailed is kaiza/FILE_READ_FAILED. The file could not be read.
	FileReadFailed candor.Code = 3216
	// FileWriteFailed is kaiza/FILE_WRITE_FAILED. The file could not be written.
	FileWriteFailed candor.Code = 3217
	// PatchInvalid is kaiza/PATCH_INVALID. The patch is malformed.
	PatchInvalid candor.Code = 3218
	// PatchApplyFailed is kaiza/PATCH_APPLY_FAILED. The patch does not fit the current file.
	PatchApplyFailed candor.Code = 3219
	// HashMismatch is kaiza/HASH_MISMATCH. The file has changed since it was read.
	HashMismatch candor.Code = 3220
	// PlanNotFound is kaiza/PLAN_NOT_FOUND. No plan has this hash.
	PlanNotFound candor.Code = 3221
	// PlanNotApproved is kaiza/PLAN_NOT_APPROVED. The plan is not approved.
	PlanNotApproved candor.Code = 3222
	// PlanEnforcementFailed is kaiza/PLAN_ENFORCEMENT_FAILED. The plan does not match its own hash.
	PlanEnforcementFailed candor.Code = 3223
	// PlanScopeViolation is kaiza/PLAN_SCOPE_VIOLATION. The plan does not cover this file.
	PlanScopeViolation candor.Code = 3224
	// PolicyViolation is kaiza/POLICY_VIOLATION. The change breaks a policy of the workspace.
	PolicyViolation candor.Code = 3225
	// RustPolicyViolation is kaiza/RUST_POLICY_VIOLATION. The Rust code breaks a policy of the workspace.
	RustPolicyViolation candor.Code = 3226
	// PreflightFailed is kaiza/PREFLIGHT_FAILED. The checks failed after the change, and it was undone.
	PreflightFailed candor.Code = 3227
	// InvariantViolation is kaiza/INVARIANT_VIOLATION. A rule that must always hold was broken.
	InvariantViolation candor.Code = 3228
	// BootstrapFailure is kaiza/BOOTSTRAP_FAILURE. The workspace could not be opened.
	BootstrapFailure candor.Code = 3229
	// SelfAuditFailure is kaiza/SELF_AUDIT_FAILURE. The server failed its self-check and refuses all calls.
	SelfAuditFailure candor.Code = 3230
	// AuditLogFailed is kaiza/AUDIT_LOG_FAILED. The audit trail could not be written, so nothing was done.
	AuditLogFailed candor.Code = 3231
	// AuditLockFailed is kaiza/AUDIT_LOCK_FAILED. The audit trail is locked by another writer, so nothing was done.
	AuditLockFailed candor.Code = 3232
	// InternalError is kaiza/INTERNAL_ERROR. The workspace server met an unexpected error.
	InternalError candor.Code = 3233
	// UnknownToolFailure is kaiza/UNKNOWN_TOOL_FAILURE. The workspace tool failed without saying why.
	UnknownToolFailure candor.Code = 3234
)

// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package kaiza has the codes of the domain kaiza: the governed workspace with sessions, roles, approved plans, policies and an audit trail.
package kaiza

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain kaiza.
var (
	// SessionNotInitialized is kaiza/SESSION_NOT_INITIALIZED, number 3200. No session has been started.
	SessionNotInitialized = candor.CodeAt(codetable.At(53))
	// SessionLocked is kaiza/SESSION_LOCKED, number 3201. The session is locked because an earlier call failed.
	SessionLocked = candor.CodeAt(codetable.At(54))
	// SessionInitializationFailed is kaiza/SESSION_INITIALIZATION_FAILED, number 3202. The session could not be set up.
	SessionInitializationFailed = candor.CodeAt(codetable.At(55))
	// InvalidInputType is kaiza/INVALID_INPUT_TYPE, number 3203. An argument has the wrong type.
	InvalidInputType = candor.CodeAt(codetable.At(56))
	// InvalidInputFormat is kaiza/INVALID_INPUT_FORMAT, number 3204. An argument is malformed.
	InvalidInputFormat = candor.CodeAt(codetable.At(57))
	// InvalidInputValue is kaiza/INVALID_INPUT_VALUE, number 3205. An argument has a value that is not allowed.
	InvalidInputValue = candor.CodeAt(codetable.At(58))
	// MissingRequiredField is kaiza/MISSING_REQUIRED_FIELD, number 3206. A required argument is missing.
	MissingRequiredField = candor.CodeAt(codetable.At(59))
	// UnauthorizedAction is kaiza/UNAUTHORIZED_ACTION, number 3207. The current role may not do this.
	UnauthorizedAction = candor.CodeAt(codetable.At(60))
	// InsufficientPermissions is kaiza/INSUFFICIENT_PERMISSIONS, number 3208. The caller lacks a permission that this action needs.
	InsufficientPermissions = candor.CodeAt(codetable.At(61))
	// RoleMismatch is kaiza/ROLE_MISMATCH, number 3209. The role named in the call is not the role of the session.
	RoleMismatch = candor.CodeAt(codetable.At(62))
	// InvalidPath is kaiza/INVALID_PATH, number 3210. The path is malformed.
	InvalidPath = candor.CodeAt(codetable.At(63))
	// PathNotFound is kaiza/PATH_NOT_FOUND, number 3211. A folder of this path does not exist.
	PathNotFound = candor.CodeAt(codetable.At(64))
	// PathTraversalBlocked is kaiza/PATH_TRAVERSAL_BLOCKED, number 3212. The path climbs out of its folder with "..".
	PathTraversalBlocked = candor.CodeAt(codetable.At(65))
	// OutsideWorkspace is kaiza/OUTSIDE_WORKSPACE, number 3213. The path lies outside the workspace.
	OutsideWorkspace = candor.CodeAt(codetable.At(66))
	// FileNotFound is kaiza/FILE_NOT_FOUND, number 3214. The file does not exist.
	FileNotFound = candor.CodeAt(codetable.At(67))
	// FileAlreadyExists is kaiza/FILE_ALREADY_EXISTS, number 3215. The file exists already.
	FileAlreadyExists = candor.CodeAt(codetable.At(68))
	// FileReadFailed is kaiza/FILE_READ_FAILED, number 3216. The file could not be read.
	FileReadFailed = candor.CodeAt(codetable.At(69))
	// FileWriteFailed is kaiza/FILE_WRITE_FAILED, number 3217. The file could not be written.
	FileWriteFailed = candor.CodeAt(codetable.At(70))
	// PatchInvalid is kaiza/PATCH_INVALID, number 3218. The patch is malformed.
	PatchInvalid = candor.CodeAt(codetable.At(71))
	// PatchApplyFailed is kaiza/PATCH_APPLY_FAILED, number 3219. The patch does not fit the current file.
	PatchApplyFailed = candor.CodeAt(codetable.At(72))
	// HashMismatch is kaiza/HASH_MISMATCH, number 3220. The file has changed since it was read.
	HashMismatch = candor.CodeAt(codetable.At(73))
	// PlanNotFound is kaiza/PLAN_NOT_FOUND, number 3221. No plan has this hash.
	PlanNotFound = candor.CodeAt(codetable.At(74))
	// PlanNotApproved is kaiza/PLAN_NOT_APPROVED, number 3222. The plan is not approved.
	PlanNotApproved = candor.CodeAt(codetable.At(75))
	// PlanEnforcementFailed is kaiza/PLAN_ENFORCEMENT_FAILED, number 3223. The plan does not match its own hash.
	PlanEnforcementFailed = candor.CodeAt(codetable.At(76))
	// PlanScopeViolation is kaiza/PLAN_SCOPE_VIOLATION, number 3224. The plan does not cover this file.
	PlanScopeViolation = candor.CodeAt(codetable.At(77))
	// PolicyViolation is kaiza/POLICY_VIOLATION, number 3225. The change breaks a policy of the workspace.
	PolicyViolation = candor.CodeAt(codetable.At(78))
	// RustPolicyViolation is kaiza/RUST_POLICY_VIOLATION, number 3226. The Rust code breaks a policy of the workspace.
	RustPolicyViolation = candor.CodeAt(codetable.At(79))
	// PreflightFailed is kaiza/PREFLIGHT_FAILED, number 3227. The checks failed after the change, and it was undone.
	PreflightFailed = candor.CodeAt(codetable.At(80))
	// InvariantViolation is kaiza/INVARIANT_VIOLATION, number 3228. A rule that must always hold was broken.
	InvariantViolation = candor.CodeAt(codetable.At(81))
	// BootstrapFailure is kaiza/BOOTSTRAP_FAILURE, number 3229. The workspace could not be opened.
	BootstrapFailure = candor.CodeAt(codetable.At(82))
	// SelfAuditFailure is kaiza/SELF_AUDIT_FAILURE, number 3230. The server found a fault in itself and refuses to work.
	SelfAuditFailure = candor.CodeAt(codetable.At(83))
	// AuditLogFailed is kaiza/AUDIT_LOG_FAILED, number 3231. The trail could not be written, so the action was not done.
	AuditLogFailed = candor.CodeAt(codetable.At(84))
	// AuditLockFailed is kaiza/AUDIT_LOCK_FAILED, number 3232. The trail is held by another writer, so the action was not done.
	AuditLockFailed = candor.CodeAt(codetable.At(85))
	// InternalError is kaiza/INTERNAL_ERROR, number 3233. The workspace server met an unexpected error.
	InternalError = candor.CodeAt(codetable.At(86))
	// UnknownToolFailure is kaiza/UNKNOWN_TOOL_FAILURE, number 3234. The workspace tool failed without saying why.
	UnknownToolFailure = candor.CodeAt(codetable.At(87))
)

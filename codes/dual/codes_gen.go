// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package dual has the codes of the domain dual: tasks, trails and votes behind the two error shapes of the dual envelope.
package dual

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain dual.
var (
	// InvalidParams is dual/INVALID_PARAMS, number 3500. The parameters of the tool are not valid.
	InvalidParams = candor.CodeAt(codetable.At(111))
	// HandlerError is dual/HANDLER_ERROR, number 3501. The tool broke while handling the call.
	HandlerError = candor.CodeAt(codetable.At(112))
	// Validation is dual/ERR_VALIDATION, number 3502. The task is not valid as given.
	Validation = candor.CodeAt(codetable.At(113))
	// NotFound is dual/ERR_NOT_FOUND, number 3503. No task has this id.
	NotFound = candor.CodeAt(codetable.At(114))
	// WritebackRequired is dual/ERR_WRITEBACK_REQUIRED, number 3504. The task cannot be finished before its thoughts are recorded.
	WritebackRequired = candor.CodeAt(codetable.At(115))
	// InvalidTransition is dual/ERR_INVALID_TRANSITION, number 3505. The task cannot change from its present status to this one.
	InvalidTransition = candor.CodeAt(codetable.At(116))
	// SessionExists is dual/ERR_SESSION_EXISTS, number 3506. A session with this id exists already.
	SessionExists = candor.CodeAt(codetable.At(117))
	// SessionNotFound is dual/ERR_SESSION_NOT_FOUND, number 3507. No recorded session has this id.
	SessionNotFound = candor.CodeAt(codetable.At(118))
	// AlreadyFinalized is dual/ERR_ALREADY_FINALIZED, number 3508. The session is finalized already.
	AlreadyFinalized = candor.CodeAt(codetable.At(119))
	// NoRecords is dual/ERR_NO_RECORDS, number 3509. The session holds no records to finalize.
	NoRecords = candor.CodeAt(codetable.At(120))
	// NotFinalized is dual/ERR_NOT_FINALIZED, number 3510. The session is not finalized yet.
	NotFinalized = candor.CodeAt(codetable.At(121))
	// RoundNotFound is dual/ROUND_NOT_FOUND, number 3511. No round of votes has this id.
	RoundNotFound = candor.CodeAt(codetable.At(122))
	// AlreadyVoted is dual/ALREADY_VOTED, number 3512. This voter has voted in this round already.
	AlreadyVoted = candor.CodeAt(codetable.At(123))
	// InvalidKey is dual/INVALID_KEY, number 3513. The key is not valid.
	InvalidKey = candor.CodeAt(codetable.At(124))
	// FallbackChainExhausted is dual/FALLBACK_CHAIN_EXHAUSTED, number 3514. Every route of the fallback chain failed.
	FallbackChainExhausted = candor.CodeAt(codetable.At(125))
	// ToolNotAdmitted is dual/TOOL_NOT_ADMITTED, number 3515. The mode of the server does not admit this tool.
	ToolNotAdmitted = candor.CodeAt(codetable.At(126))
	// ToolLockTimeout is dual/TOOL_LOCK_TIMEOUT, number 3516. The tool was busy with another call for too long.
	ToolLockTimeout = candor.CodeAt(codetable.At(127))
	// DBBusy is dual/DB_BUSY, number 3517. The database is busy.
	DBBusy = candor.CodeAt(codetable.At(128))
	// DBFull is dual/DB_FULL, number 3518. The database has no room left.
	DBFull = candor.CodeAt(codetable.At(129))
	// UniqueViolation is dual/UNIQUE_VIOLATION, number 3519. A record with this identity exists already.
	UniqueViolation = candor.CodeAt(codetable.At(130))
)

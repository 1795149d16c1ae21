// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package dual has the codes of the domain dual: tasks, trails and votes behind the two error shapes of the dual envelope.
package dual

import "github.com/candor-mcp/candor"

// The codes of the domain dual.
const (
	// InvalidParams is dual/INVALID_PARAMS. The parameters of the tool are not valid.
	InvalidParams candor.Code = 3500
	// HandlerError is dual/HANDLER_ERROR. The tool failed while handling the call.
	HandlerError candor.Code = 3501
	// Validation is dual/ERR_VALIDATION. The task is not valid.
	Validation candor.Code = 3502
	// NotFound is dual/ERR_NOT_FOUND. No task has this id.
	NotFound candor.Code = 3503
	// WritebackRequired is dual/ERR_WRITEBACK_REQUIRED. The task cannot be finished before its thoughts are recorded.
	WritebackRequired candor.Code = 3504
	// InvalidTransition is dual/ERR_INVALID_TRANSITION. The task cannot change from its current status to this one.
	InvalidTransition candor.Code = 3505
	// SessionExists is dual/ERR_SESSION_EXISTS. A session with this id already exists.
	SessionExists candor.Code = 3506
	// SessionNotFound is dual/ERR_SESSION_NOT_FOUND. No recorded session has this id.
	SessionNotFound candor.Code = 3507
	// AlreadyFinalized is dual/ERR_ALREADY_FINALIZED. The session is already finalized.
	AlreadyFinalized candor.Code = 3508
	// NoRecords is dual/ERR_NO_RECORDS. The session holds no records to finalize.
	NoRecords candor.Code = 3509
	// NotFinalized is dual/ERR_NOT_FINALIZED. The session is not finalized yet.
	NotFinalized candor.Code = 3510
	// RoundNotFound is dual/ROUND_NOT_FOUND. No round of votes has this id.
	RoundNotFound candor.Code = 3511
	// AlreadyVoted is dual/ALREADY_VOTED. This voter has already voted in this round.
	AlreadyVoted candor.Code = 3512
	// InvalidKey is dual/INVALID_KEY. The key is not valid.
	InvalidKey candor.Code = 3513
	// FallbackChainExhausted is dual/FALLBACK_CHAIN_EXHAUSTED. Every route of the fallback chain failed.
	FallbackChainExhausted candor.Code = 3514
	// ToolNotAdmitted is dual/TOOL_NOT_ADMITTED. The mode of the server does not permit this tool.
	ToolNotAdmitted candor.Code = 3515
	// ToolLockTimeout is dual/TOOL_LOCK_TIMEOUT. The tool was busy with another call for too long.
	ToolLockTimeout candor.Code = 3516
	// DBBusy is dual/DB_BUSY. The database is busy.
	DBBusy candor.Code = 3517
	// DBFull is dual/DB_FULL. The database is full.
	DBFull candor.Code = 3518
	// UniqueViolation is dual/UNIQUE_VIOLATION. A record with this identity already exists.
	UniqueViolation candor.Code = 3519
)

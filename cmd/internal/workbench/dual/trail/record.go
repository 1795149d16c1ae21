// Package trail has the rules of thought records: how a record is hashed, how the records of a task are chained, and
// how a chain is verified. It does no I/O.
package trail

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
)

// Type is the type of a thought record.
type Type string

// The types.
const (
	TypePlan       Type = "plan"
	TypeAnalysis   Type = "analysis"
	TypeDecision   Type = "decision"
	TypeReflection Type = "reflection"
)

// Types returns all types. The caller owns the slice.
func Types() []Type { return []Type{TypePlan, TypeAnalysis, TypeDecision, TypeReflection} }

// Valid reports whether t is one of the types.
func (t Type) Valid() bool { return slices.Contains(Types(), t) }

// Genesis is the PrevHash of the first record of a task.
var Genesis = strings.Repeat("0", 2*sha256.Size)

// timeFormat has a fixed width, so that a time has exactly one text.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Stamp formats a time for records: UTC, in microseconds.
func Stamp(t time.Time) string { return t.UTC().Format(timeFormat) }

// Record is one thought about a task. Hash covers every other field.
type Record struct {
	ID        string `json:"id"`
	Seq       int64  `json:"seq"` // within the task, from 1
	Type      Type   `json:"type"`
	TaskID    string `json:"task_id"`
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"` // "" if no audit session was open
	Content   string `json:"content"`
	Timestamp string `json:"timestamp"`
	PrevHash  string `json:"prev_hash"`
	Hash      string `json:"hash"`
}

// Sum returns the hash that the record must have: SHA-256, in hex, of the canonical JSON (RFC 8785) of all fields but Hash.
func (r *Record) Sum() string {
	text, err := jsonvalue.Append(nil, map[string]any{
		"id": r.ID, "seq": json.Number(strconv.FormatInt(r.Seq, 10)), "type": string(r.Type), "task_id": r.TaskID, "agent_id": r.AgentID,
		"session_id": r.SessionID, "content": r.Content, "timestamp": r.Timestamp, "prev_hash": r.PrevHash,
	})
	if err != nil {
		return "" // texts and a number can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Link sets the number, previous hash and hash of a record that follows the head of its task. A nil head starts the
// chain.
func (r *Record) Link(head *Record) {
	r.Seq, r.PrevHash = 1, Genesis
	if head != nil {
		r.Seq, r.PrevHash = head.Seq+1, head.Hash
	}
	r.Hash = r.Sum()
}

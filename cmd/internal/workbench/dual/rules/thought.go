package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// Genesis is the PrevHash of the first record of a task.
var Genesis = strings.Repeat("0", 2*sha256.Size)

// Stamp formats a time for records: UTC, in microseconds. The width is fixed, so that a time has exactly one text.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// Digest returns the SHA-256 of a text in hex.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Sum returns the digest of the canonical JSON (RFC 8785) of texts, lists and numbers.
func Sum(fields map[string]any) string {
	text, err := jsontext.AppendCanonical(nil, fields)
	if err != nil {
		return "" // these values can be encoded
	}
	return Digest(string(text))
}

// Number returns a number for [Sum].
func Number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// Record is one thought about a task. Hash covers every other field.
type Record struct {
	ID        string `json:"id"`
	Seq       int64  `json:"seq"` // within the task, from 1
	Type      string `json:"type"`
	TaskID    string `json:"task_id"`
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"` // "" if no audit session was open
	Content   string `json:"content"`
	Timestamp string `json:"timestamp"`
	PrevHash  string `json:"prev_hash"`
	Hash      string `json:"hash"`
}

// Sum returns the hash that the record must have.
func (r *Record) Sum() string {
	return Sum(map[string]any{
		"id": r.ID, "seq": Number(r.Seq), "type": r.Type, "task_id": r.TaskID, "agent_id": r.AgentID,
		"session_id": r.SessionID, "content": r.Content, "timestamp": r.Timestamp, "prev_hash": r.PrevHash,
	})
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

// Fault is the reason why a record does not verify.
type Fault string

// The faults.
const (
	FaultHash     Fault = "hash_mismatch"       // a field was changed
	FaultLink     Fault = "link_broken"         // it does not follow the record before it
	FaultSeq      Fault = "number_broken"       // a record before it is missing or was moved
	FaultMissing  Fault = "record_missing"      // the ledger attests it, but the database does not have it
	FaultReplaced Fault = "record_replaced"     // the ledger attests another record at its position
	FaultUnproven Fault = "attestation_missing" // it was attested, but the ledger does not have the entry
)

// Place is a position in the chain of a task.
type Place struct {
	TaskID string `json:"task_id"`
	Seq    int64  `json:"seq"`
}

// Broken is a record that does not verify.
type Broken struct {
	Place
	ID    string `json:"id,omitempty"` // "" if the record is missing
	Fault Fault  `json:"fault"`
}

// MaxShown is the number of faults that are listed; all are counted.
const MaxShown = 20

// Verifier checks the chains of tasks. The records of a task must be added consecutively, in the order in which they
// were made. The zero value is ready to use.
type Verifier struct {
	Records int
	Tasks   int
	Faults  int
	Broken  []Broken // the first, in the order in which they were found

	head   Record         // the last record
	faulty map[Place]bool // each counts once
}

// Add checks the next record.
func (v *Verifier) Add(r *Record) {
	if v.Records == 0 || r.TaskID != v.head.TaskID {
		v.Tasks++
		v.head = Record{Hash: Genesis}
	}
	v.Records++
	at := Place{r.TaskID, r.Seq}
	switch {
	case r.Sum() != r.Hash:
		v.Fault(Broken{at, r.ID, FaultHash})
	case r.Seq != v.head.Seq+1:
		v.Fault(Broken{at, r.ID, FaultSeq})
	case r.PrevHash != v.head.Hash:
		v.Fault(Broken{at, r.ID, FaultLink})
	}
	v.head = *r
}

// Fault counts a broken record, unless it was counted before.
func (v *Verifier) Fault(b Broken) {
	if v.faulty[b.Place] {
		return
	}
	if v.faulty == nil {
		v.faulty = map[Place]bool{}
	}
	v.faulty[b.Place] = true
	v.Faults++
	if len(v.Broken) < MaxShown {
		v.Broken = append(v.Broken, b)
	}
}

// Attested compares an attestation with the hash of the record at its position, "" if there is none. It finds records
// that were removed from the end of a chain, and chains that were completely rewritten.
func (v *Verifier) Attested(a *Anchor, hash string) {
	switch hash {
	case a.Hash:
	case "":
		v.Fault(Broken{Place: a.Place, Fault: FaultMissing})
	default:
		v.Fault(Broken{a.Place, a.ID, FaultReplaced})
	}
}

// Tree is the Merkle tree of RFC 6962 over the records of an audit session. A leaf is the hash of a record. The zero
// value is empty. It is not safe for concurrent use.
type Tree struct {
	size   int64
	stored []tlog.Hash
}

// ReadHashes implements [tlog.HashReader].
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		found[i] = t.stored[x]
	}
	return found, nil
}

// hash32 decodes a hexadecimal hash.
func hash32(text string) (h tlog.Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("hash %.70q: not %d bytes in hex", text, len(h))
	}
	return tlog.Hash(raw), nil
}

// Add appends a record by its hex hash.
func (t *Tree) Add(hash string) error {
	h, err := hash32(hash)
	if err != nil {
		return err
	}
	more, err := tlog.StoredHashes(t.size, h[:], t)
	t.stored = append(t.stored, more...)
	t.size++
	return err
}

// Size returns the number of records.
func (t *Tree) Size() int64 { return t.size }

// Root returns the root in hex, "" for a tree without records.
func (t *Tree) Root() (string, error) {
	if t.size == 0 {
		return "", nil
	}
	h, err := tlog.TreeHash(t.size, t)
	return hex.EncodeToString(h[:]), err
}

// Proof proves that a record is in a tree.
type Proof struct {
	Index  int64    `json:"index"` // of the record, from 0
	Size   int64    `json:"size"`  // of the tree
	Hashes []string `json:"hashes"`
}

// Prove returns the proof for the record with an index.
func (t *Tree) Prove(index int64) (*Proof, error) {
	hashes, err := tlog.ProveRecord(t.size, index, t)
	p := &Proof{Index: index, Size: t.size, Hashes: make([]string, len(hashes))}
	for i, h := range hashes {
		p.Hashes[i] = hex.EncodeToString(h[:])
	}
	return p, err
}

package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// Record is a whole entry as decoded from a line. Codes and classes are plain text, because the catalogue may have
// changed since the entry was written. The fields are in the order of the members.
type Record struct {
	V     int       `json:"v"`
	Chain string    `json:"chain"`
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"time"`
	Prev  string    `json:"prev"`
	Kind  Kind      `json:"kind"`
	Ref   string    `json:"ref,omitempty"`
	Call  string    `json:"call,omitempty"`

	Tool   string       `json:"tool,omitempty"`
	Code   string       `json:"code,omitempty"`
	Domain string       `json:"domain,omitempty"`
	Number int          `json:"number,omitempty"`
	Class  candor.Class `json:"class,omitempty"`
	Origin *struct {
		By       candor.Party `json:"by"`
		Inferred bool         `json:"inferred"` // not stated, but read from the text of the failure
	} `json:"origin,omitempty"`
	Retry *candor.Retry `json:"retry,omitempty"`

	SessionID     string `json:"session_id,omitempty"`
	Role          string `json:"role,omitempty"`
	WorkspaceRoot string `json:"workspace_root,omitempty"`
	PlanHash      string `json:"plan_hash,omitempty"`
	PhaseID       string `json:"phase_id,omitempty"`
	InvariantID   string `json:"invariant_id,omitempty"`

	Args      *RecordArgs     `json:"args,omitempty"`
	Cause     string          `json:"cause,omitempty"`
	Outcome   Outcome         `json:"outcome,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	LatencyUS int64           `json:"latency_us,omitempty"`
	Upstream  *RecordText     `json:"upstream,omitempty"`
	Envelope  *RecordText     `json:"envelope,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Hash      string          `json:"hash"`
}

// RecordArgs represents the arguments of a call.
type RecordArgs struct {
	Digest string `json:"digest"` // "hmac-sha256:" and the first 16 bytes in hex; earlier versions wrote all 32
	Bytes  int64  `json:"bytes"`
}

// RecordText is a received or sent text, redacted and limited in length.
type RecordText struct {
	Text     string `json:"text"`
	Bytes    int64  `json:"bytes"` // the size of Text, or of the whole text if it was cut
	Cut      bool   `json:"cut,omitempty"`
	Redacted bool   `json:"redacted,omitempty"` // part of the text was removed
	Digest   string `json:"digest"`             // of Text
}

// UnmarshalJSON decodes a text and computes the size and the digest if they are not written.
func (t *RecordText) UnmarshalJSON(data []byte) error {
	type plain RecordText
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	if t.Bytes == 0 {
		t.Bytes = int64(len(t.Text))
	}
	if t.Digest == "" {
		sum := sha256.Sum256([]byte(t.Text))
		t.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return nil
}

// Record decodes the whole line.
func (l *Line) Record() (Record, error) {
	var r Record
	if err := json.Unmarshal(l.raw, &r); err != nil {
		return Record{}, fmt.Errorf("reading entry %d: %w", l.Seq, err)
	}
	return r, nil
}

// Server returns the name of the server that a failure is from: the upstream of a gateway, or the instance that wrote
// the chain if the server has its own ledger.
func (r *Record) Server() string { return serverName(r.Chain, r.Data) }

// Server is like [Record.Server]. It decodes no other member.
func (l *Line) Server() string {
	const member = `,"data":{` // texts before it contain no unescaped quotes, and no other object has this member
	var data []byte
	if at := bytes.Index(l.raw, []byte(member)); at >= 0 {
		data = l.raw[at+len(member)-1 : len(l.raw)-format.LineTail]
	}
	return serverName(string(l.chain), data)
}

// serverName returns the upstream in the data of an entry, or the instance in the name of the chain.
func serverName(chain string, data []byte) string {
	var known struct {
		Upstream string `json:"upstream"`
	}
	if len(data) > 0 && json.Unmarshal(data, &known) == nil && known.Upstream != "" {
		return known.Upstream
	}
	instance := chain
	for range 2 { // the time and the random part
		if at := strings.LastIndexByte(instance, '-'); at > 0 {
			instance = instance[:at]
		}
	}
	return instance
}

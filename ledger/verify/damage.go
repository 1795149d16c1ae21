package verify

import "fmt"

// Kind is a kind of damage to a ledger. The kinds are a closed set; spec/ledger.md defines them.
type Kind string

// The kinds of damage.
const (
	KindTornTail          Kind = "torn-tail"          // an incomplete line at the end of a chain whose end is recorded
	KindBadLine           Kind = "bad-line"           // a line that is not an entry
	KindBadHash           Kind = "bad-hash"           // an entry that was changed
	KindBrokenLink        Kind = "broken-link"        // an entry that does not follow the previous one
	KindWrongSeq          Kind = "wrong-seq"          // an entry out of order
	KindWrongChain        Kind = "wrong-chain"        // an entry of another chain
	KindTimeBackwards     Kind = "time-backwards"     // an entry that is older than the previous one
	KindMissingSegment    Kind = "missing-segment"    // a segment that is missing
	KindDuplicate         Kind = "duplicate"          // an entry or a segment that occurs twice
	KindTruncated         Kind = "truncated"          // entries are missing that a checkpoint or another chain covers
	KindRootMismatch      Kind = "root-mismatch"      // the entries are not those that a checkpoint covers
	KindBadSignature      Kind = "bad-signature"      // a checkpoint with an invalid signature
	KindUnknownKey        Kind = "unknown-key"        // a checkpoint signed with an unknown key
	KindMissingChain      Kind = "missing-chain"      // a chain that is named elsewhere but missing
	KindCheckpointMissing Kind = "checkpoint-missing" // entries without the checkpoint that was due
)

// Damage is the first damage found in a chain.
type Damage struct {
	Kind   Kind   `json:"kind"`
	Chain  string `json:"chain"`
	Seq    uint64 `json:"seq,omitempty"`  // the first bad or missing entry; 0 if the damage does not concern an entry
	File   string `json:"file,omitempty"` // relative to the ledger's folder, or the name of a witness copy
	Offset int64  `json:"offset"`         // of the bad entry in File, in bytes; in a compressed file, of the uncompressed content
	Text   string `json:"text"`           // one sentence
	// Absent means that nothing else is wrong than that a chain ends before an entry that is named elsewhere, or does not exist. In
	// a store it may still arrive.
	Absent bool `json:"-"`
}

// String returns the location, the kind and the text.
func (h Damage) String() string {
	at := h.Chain
	if h.Seq > 0 {
		at = fmt.Sprintf("%s/%d", h.Chain, h.Seq)
	}
	if h.File != "" {
		at += fmt.Sprintf(" (%s, byte %d)", h.File, h.Offset)
	}
	return fmt.Sprintf("%s: %s: %s", at, h.Kind, h.Text)
}

package verify

import "fmt"

// The kinds of damage, a closed set that spec/ledger.md defines.
const (
	kindTornTail          = "torn-tail"          // an incomplete line at the end of a closed or recovered chain
	kindBadLine           = "bad-line"           // a line that is not an entry
	kindBadHash           = "bad-hash"           // an entry that was changed
	kindBrokenLink        = "broken-link"        // an entry that does not follow the previous one
	kindWrongSeq          = "wrong-seq"          // an entry out of order
	kindWrongChain        = "wrong-chain"        // an entry of another chain
	kindTimeBackwards     = "time-backwards"     // an entry that is older than the previous one
	kindMissingSegment    = "missing-segment"    // a segment that is missing
	kindDuplicate         = "duplicate"          // an entry or a segment that occurs twice
	kindTruncated         = "truncated"          // entries are missing that a checkpoint or another chain covers
	kindRootMismatch      = "root-mismatch"      // the entries are not those that a checkpoint covers
	kindBadSignature      = "bad-signature"      // a checkpoint with an invalid signature
	kindUnknownKey        = "unknown-key"        // a checkpoint signed with an unknown key
	kindMissingChain      = "missing-chain"      // a chain that is named elsewhere but missing
	kindCheckpointMissing = "checkpoint-missing" // entries without the checkpoint that was due
)

// Damage is the first damage found in a chain.
type Damage struct {
	Kind   string `json:"kind"` // such as "bad-hash"; spec/ledger.md lists them
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

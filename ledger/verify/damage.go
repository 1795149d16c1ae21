package verify

import "fmt"

// Kind names what is wrong with a ledger. The kinds are a closed set, in the words of spec/ledger.md.
type Kind string

// The kinds of damage.
const (
	KindTornTail          Kind = "torn-tail"          // half a line at the end of a chain whose end is on record
	KindBadLine           Kind = "bad-line"           // a line that is no entry
	KindBadHash           Kind = "bad-hash"           // an entry that was changed
	KindBrokenLink        Kind = "broken-link"        // an entry that does not follow the one before it
	KindWrongSeq          Kind = "wrong-seq"          // an entry out of its order
	KindWrongChain        Kind = "wrong-chain"        // an entry of another chain
	KindTimeBackwards     Kind = "time-backwards"     // an entry that is older than the one before it
	KindMissingSegment    Kind = "missing-segment"    // a file of entries that is gone
	KindDuplicate         Kind = "duplicate"          // an entry, or a file of entries, that is there twice
	KindTruncated         Kind = "truncated"          // entries that a checkpoint or another chain vouches for are gone
	KindRootMismatch      Kind = "root-mismatch"      // the entries are not those that a checkpoint was made of
	KindBadSignature      Kind = "bad-signature"      // a checkpoint that its key did not sign
	KindUnknownKey        Kind = "unknown-key"        // a checkpoint by a key nobody vouches for
	KindMissingChain      Kind = "missing-chain"      // a chain that is named but gone
	KindCheckpointMissing Kind = "checkpoint-missing" // entries that no checkpoint covers although one was due
)

// Damage is the first thing that is wrong with a chain.
type Damage struct {
	Kind   Kind   `json:"kind"`
	Chain  string `json:"chain"`
	Seq    uint64 `json:"seq,omitempty"`  // the first entry that is bad or gone; 0 where no entry is meant
	File   string `json:"file,omitempty"` // relative to the ledger's folder, or a second place as it was named
	Offset int64  `json:"offset"`         // of the bad entry in File, in bytes; in a compressed file, of its content
	Text   string `json:"text"`           // one sentence
}

// String names the place, the kind and the sentence.
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

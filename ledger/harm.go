package ledger

import "fmt"

// HarmKind names what is wrong with a ledger. The kinds are a closed set, in the words of spec/ledger.md.
type HarmKind string

// The kinds of harm.
const (
	HarmTornTail          HarmKind = "torn-tail"          // half a line at the end of a chain whose end is on record
	HarmBadLine           HarmKind = "bad-line"           // a line that is no entry
	HarmBadHash           HarmKind = "bad-hash"           // an entry that was changed
	HarmBrokenLink        HarmKind = "broken-link"        // an entry that does not follow the one before it
	HarmWrongSeq          HarmKind = "wrong-seq"          // an entry out of its order
	HarmWrongChain        HarmKind = "wrong-chain"        // an entry of another chain
	HarmTimeBackwards     HarmKind = "time-backwards"     // an entry that is older than the one before it
	HarmMissingSegment    HarmKind = "missing-segment"    // a file of entries that is gone
	HarmDuplicate         HarmKind = "duplicate"          // an entry, or a file of entries, that is there twice
	HarmTruncated         HarmKind = "truncated"          // entries that a checkpoint or another chain vouches for are gone
	HarmRootMismatch      HarmKind = "root-mismatch"      // the entries are not those that a checkpoint was made of
	HarmBadSignature      HarmKind = "bad-signature"      // a checkpoint that its key did not sign
	HarmUnknownKey        HarmKind = "unknown-key"        // a checkpoint by a key nobody vouches for
	HarmMissingChain      HarmKind = "missing-chain"      // a chain that is named but gone
	HarmCheckpointMissing HarmKind = "checkpoint-missing" // entries that no checkpoint covers although one was due
)

// HarmKinds returns all kinds in the order of the specification.
func HarmKinds() []HarmKind {
	return []HarmKind{
		HarmTornTail, HarmBadLine, HarmBadHash, HarmBrokenLink, HarmWrongSeq, HarmWrongChain, HarmTimeBackwards, HarmMissingSegment,
		HarmDuplicate, HarmTruncated, HarmRootMismatch, HarmBadSignature, HarmUnknownKey, HarmMissingChain, HarmCheckpointMissing,
	}
}

// Harm is the first thing that is wrong with a chain.
type Harm struct {
	Kind   HarmKind `json:"kind"`
	Chain  string   `json:"chain"`
	Seq    uint64   `json:"seq,omitempty"`  // the first entry that is bad or gone; 0 where no entry is meant
	File   string   `json:"file,omitempty"` // relative to the ledger's folder, or a second place as it was named
	Offset int64    `json:"offset"`         // of the bad entry in File, in bytes; in a compressed file, of its content
	Text   string   `json:"text"`           // one sentence
}

// String names the place, the kind and the sentence.
func (h Harm) String() string {
	at := h.Chain
	if h.Seq > 0 {
		at = fmt.Sprintf("%s/%d", h.Chain, h.Seq)
	}
	if h.File != "" {
		at += fmt.Sprintf(" (%s, byte %d)", h.File, h.Offset)
	}
	return fmt.Sprintf("%s: %s: %s", at, h.Kind, h.Text)
}

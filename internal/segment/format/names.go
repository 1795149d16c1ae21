package format

import (
	"fmt"
	"strconv"
	"strings"
)

// The files of a chain.
const (
	ActiveSegment   = "audit-log.jsonl"
	SegmentPrefix   = "audit-log."
	SegmentSuffix   = ".jsonl"
	GzipSuffix      = ".gz"
	CheckpointsFile = "checkpoints"
	EvidenceDir     = "evidence"
	EndFile         = "end"
	ReserveFile     = "reserve"
	ShippedFile     = "shipped"
	ShippingLock    = "shipping.lock" // also in the folder of the ledger
)

// ShippingFile is the file in the folder of the ledger that says that its entries are copied to a store.
const ShippingFile = "shipping"

// ClosedSegment returns the name of the n-th closed segment, from 1.
func ClosedSegment(n int) string { return fmt.Sprintf("%s%06d%s", SegmentPrefix, n, SegmentSuffix) }

// SegmentNumber parses names such as audit-log.000001.jsonl and audit-log.000001.jsonl.gz.
func SegmentNumber(name string) (number int, packed, ok bool) {
	name, packed = strings.CutSuffix(name, GzipSuffix)
	digits, isSegment := strings.CutSuffix(name, SegmentSuffix)
	digits, isClosed := strings.CutPrefix(digits, SegmentPrefix)
	if !isSegment || !isClosed || len(digits) < 6 {
		return 0, false, false
	}
	number, err := strconv.Atoi(digits)
	return number, packed, err == nil && number > 0 && fmt.Sprintf("%06d", number) == digits
}

// IsChainName reports whether b can be the name of a chain: letters, digits and hyphens, and not too long.
func IsChainName[T string | []byte](b T) bool {
	if len(b) == 0 || len(b) > maxChainName {
		return false
	}
	for i := range len(b) {
		c := b[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// maxChainName allows for an instance of 64 bytes, the start time and the random part.
const maxChainName = 100

// LooksLikeChain reports whether name has the form INSTANCE-20261115T040506789Z-0123abcd.
func LooksLikeChain(name string) bool {
	const form = "-dddddddd-ddddddddd--hhhhhhhh"
	if len(name) <= len(form) || !IsChainName(name) {
		return false
	}
	tail := name[len(name)-len(form):]
	return tail[0] == '-' && tail[9] == 'T' && tail[19] == 'Z' && tail[20] == '-' && isHexText(tail[21:]) &&
		isDigits(tail[1:9]) && isDigits(tail[10:19])
}

func isHexText(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// The names and sizes of key files.
const (
	KeysDir     = "keys"
	OldKeysDir  = "keys/old"
	SignerKey   = "keys/signer.key"
	SignerPub   = "keys/signer.pub"
	DigestKey   = "keys/digest.key"
	Rotations   = "keys/rotations"
	NoteKeyName = "candor-ledger" // of every signer; the chain is in the checkpoint's origin
	DigestSize  = 32
	MaxKeyFile  = 4 << 10
	// MaxRotations is how many rotations a folder and the first entry of a chain name. Older ones are dropped.
	MaxRotations = 16
)

// The text around a checkpoint in its file.
const (
	Origin = "candor-ledger/" // begins a checkpoint; the name of the chain follows
	// RotationOrigin begins the note about a rotation: the replaced and the new key, signed with both.
	RotationOrigin = "candor-ledger-rotation/1"
	BlockEnd       = "---\n" // follows each signed checkpoint
)

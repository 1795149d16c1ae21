package candor

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Limits of an error, in bytes of UTF-8. Longer text is cut at a rune boundary and ends in "…", which counts. A whole envelope of
// one error is below 32 KiB in every dialect.
const (
	MaxMessage    = 1024
	MaxSuggestion = 512
	MaxCause      = 1024
	MaxDetails    = 8192 // encoded JSON
	MaxDepth      = 16   // of details
	MaxItems      = 100  // of an array or object in details
	MaxText       = 1024 // one string in details
	MaxKey        = 128  // one member name in details
	MaxCallInfo   = 256  // tool, role, session and the like
	MaxStack      = 8192 // encoded JSON, in which a newline takes two bytes
)

// cutMark ends a text that was cut. The same character in user data has no special meaning.
const cutMark = "…"

// maxScan limits the work on one text, because a peer may send megabytes. A secret that is cut at this limit is still recognised.
const maxScan = 64 << 10

// Public returns text as an error would hold it: redacted, and at most limit bytes of UTF-8, cut at a rune boundary with "…"
// inside the limit. Passing the result again changes nothing.
func Public(text string, limit int) string { return publicText(text, limit) }

// publicText redacts and bounds a text. All text that enters an error passes through it, and a second pass changes nothing. A cut
// can split a redaction mark or expose something new to redact, such as a name that lost its harmless ending; publicText then
// shortens the text until a second pass would not change it.
func publicText(s string, limit int) string { return cleanText(s, limit, redact.Policy{}) }

// cleanText is [publicText] with a redaction policy.
func cleanText(s string, limit int, policy redact.Policy) string {
	s = policy.Text(cutText(s, maxScan))
	if len(s) <= limit {
		return s
	}
	end := limit
	for tries := 0; ; tries++ {
		cut := cutText(s, end)
		clean := policy.Text(cut)
		if clean == cut {
			return cut
		}
		end = min(end-1, commonPrefix(cut, clean)+len(cutMark))
		if tries > 8 { // a hostile text; it may lose more than necessary
			end /= 2
		}
		end = max(end, min(limit, len(cutMark)))
	}
}

// fitText is [publicText] for a text that may take up to size bytes as a JSON string.
func fitText(s string, limit, size int) string { return fitClean(s, limit, size, redact.Policy{}) }

// fitPointer is [fitText] for a JSON Pointer, which looks like a path and is kept. Secrets in it are still redacted.
func fitPointer(s string, size int) string {
	return fitClean(s, MaxText, size, redact.Policy{KeepPaths: true})
}

func fitClean(s string, limit, size int, policy redact.Policy) string {
	limit = min(limit, size-len(`""`))
	s = cleanText(s, limit, policy)
	for {
		over := jsontext.EncodedLen(s) - size
		if over <= 0 {
			return s
		}
		// An escaped character takes at least two bytes, so at least half of the excess has to be removed.
		limit = max(len(cutMark), min(limit, len(s))-max(1, over/2))
		s = cleanText(s, limit, policy)
	}
}

// label cleans a short one-line identifier: it removes control characters, newlines and secrets with a known shape. It does not
// look for names and paths, and keeps ids and digests.
func label(s string) string {
	s = redact.Chars(cutText(s, maxScan))
	if strings.ContainsAny(s, "\n\t") {
		s = oneLine.Replace(s)
	}
	return cleanText(s, MaxCallInfo, redact.Policy{ShapesOnly: true})
}

var oneLine = strings.NewReplacer("\n", "", "\t", "")

// cutText limits s to limit bytes, cut at a rune boundary.
func cutText(s string, limit int) string {
	return truncate.WithMark(s, limit, cutMark)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

const (
	derivedRefPrefix = "c-"
	derivedRefSize   = 6 // bytes
)

// WireRef returns the ref to write: [Error.Ref] if it is set, else "c-" and twelve hex digits derived from code, message, details,
// tool and time. An error that is written twice therefore has one ref. Two equal failures at the same time, or without a time,
// share it; use [WithRef] to set a unique one.
func (e *Error) WireRef() string {
	e = e.orZero()
	if e.ref != "" {
		return e.ref
	}
	var space [len(derivedRefPrefix) + 2*derivedRefSize]byte
	return string(e.appendDerivedRef(space[:0]))
}

// appendDerivedRef appends the derived ref. Parts are separated by zero bytes, which cannot occur in the text of an error.
func (e *Error) appendDerivedRef(dst []byte) []byte {
	var space [2 * MaxMessage]byte // enough for most errors, and not on the heap
	code := e.wireCode()
	text := append(space[:0], code.Domain()...)
	text = append(append(text, '/'), code.Symbol()...)
	text = append(append(text, 0), firstText(e.message, code.Sentence())...)
	text = append(append(text, 0), e.details.json...)
	text = append(append(text, 0), e.callInfo.Tool...)
	text = append(text, 0)
	if !e.at.IsZero() {
		text = timestamp.Append(text, e.at)
	}
	sum := sha256.Sum256(text)
	return hex.AppendEncode(append(dst, derivedRefPrefix...), sum[:derivedRefSize])
}

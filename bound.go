package candor

import (
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Bounds of an error, in bytes of UTF-8. Longer text is cut on a rune border and ends in "…",
// which counts. A whole envelope of one error stays below 32 KiB in every dialect.
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
	MaxStack      = 8192 // as it stands in JSON, where a line end takes two bytes
)

// cutMark ends a text that was cut. It has no other meaning: the same mark in user data is data.
const cutMark = "…"

// maxScan bounds the work on one text: a peer may send megabytes. A secret that is cut here is still known as one.
const maxScan = 64 << 10

// Public returns text as an error would hold it: redacted, and at most limit bytes of UTF-8, cut on a rune border with "…" inside
// the bound. Passing the result again changes nothing.
func Public(text string, limit int) string { return publicText(text, limit) }

// publicText is the single door through which text enters an error: redacted, then bounded. The result is both at
// once, so that passing the door again changes nothing. A cut can split what redaction wrote, or uncover something
// new to redact (a name that lost its harmless ending); such an end is moved to the left until it holds.
func publicText(s string, limit int) string { return cleanText(s, limit, redact.Policy{}) }

// cleanText is [publicText] under a policy.
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
		if tries > 8 { // a text made for this; it may lose more than it must
			end /= 2
		}
		end = max(end, min(limit, len(cutMark)))
	}
}

// fitText is [publicText] for a text that may take up to room bytes as a JSON string.
func fitText(s string, limit, room int) string { return fitClean(s, limit, room, redact.Policy{}) }

// fitPointer is [fitText] for a JSON Pointer, which looks like a path and must stay whole. Secrets in it still go.
func fitPointer(s string, room int) string {
	return fitClean(s, MaxText, room, redact.Policy{KeepPaths: true})
}

func fitClean(s string, limit, room int, policy redact.Policy) string {
	limit = min(limit, room-len(`""`))
	s = cleanText(s, limit, policy)
	for {
		over := jsontext.EncodedLen(s) - room
		if over <= 0 {
			return s
		}
		// An escaped character takes two bytes, so half of what is too much has to go at least.
		limit = max(len(cutMark), min(limit, len(s))-max(1, over/2))
		s = cleanText(s, limit, policy)
	}
}

// label cleans a short identifier, which is one line: control characters and line ends go, and secrets that their shape
// gives away. Names and paths are not looked for, and ids and digests stay.
func label(s string) string {
	s = redact.Chars(cutText(s, maxScan))
	if strings.ContainsAny(s, "\n\t") {
		s = oneLine.Replace(s)
	}
	return cleanText(s, MaxCallInfo, redact.Policy{ShapesOnly: true})
}

var oneLine = strings.NewReplacer("\n", "", "\t", "")

// cutText bounds s to limit bytes on a rune border.
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

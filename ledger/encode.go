package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/internal/truncate"
)

// encoder encodes the part of a line that does not depend on its number or on the entry before it. Callers use it
// concurrently, before they queue the entry.
type encoder struct {
	macs sync.Pool // of hash.Hash, keyed
}

func newEncoder(digestKey []byte) *encoder {
	return &encoder{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, digestKey) }}}
}

// appendBody appends the members from kind to data, each with its leading comma.
func (c *encoder) appendBody(dst []byte, e *Entry) ([]byte, error) {
	if !e.Kind.Valid() {
		return dst, fmt.Errorf("unknown kind %q", e.Kind)
	}
	if e.Outcome != "" && !e.Outcome.valid() {
		return dst, fmt.Errorf("unknown outcome %q", e.Outcome)
	}
	dst = append(append(append(dst, `,"kind":"`...), e.Kind...), '"')
	dst = appendLabel(dst, "ref", e.Ref)
	dst = appendLabel(dst, "call", e.Call)
	dst = appendLabel(dst, "tool", e.Tool)
	dst = appendCode(dst, e)
	dst = appendContext(dst, e)
	if e.Args != nil {
		dst = c.appendArgs(dst, e.Args)
	}
	if e.Cause != "" {
		text, _, _ := boundText([]byte(e.Cause), redact.Bytes)
		dst = jsontext.AppendString(append(dst, `,"cause":`...), text)
	}
	if e.Outcome != "" {
		dst = append(append(append(dst, `,"outcome":"`...), e.Outcome...), '"')
	}
	if e.Attempt > 0 {
		dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(e.Attempt), 10)
	}
	if e.Latency > 0 {
		dst = strconv.AppendInt(append(dst, `,"latency_us":`...), e.Latency.Microseconds(), 10)
	}
	received, sent := redact.Bytes, asSent.Bytes
	if e.redacted {
		received, sent = redact.Policy{PathsOnly: true}.Bytes, unchanged
	}
	dst = appendText(dst, "upstream", e.Upstream, received)
	dst = appendText(dst, "envelope", e.Envelope, sent)
	return appendData(dst, e), nil
}

func appendCode(dst []byte, e *Entry) []byte {
	if e.Code.Valid() {
		dst = append(append(append(dst, `,"code":"`...), e.Code.Symbol()...), '"')
		dst = append(append(append(dst, `,"domain":"`...), e.Code.Domain()...), '"')
		dst = strconv.AppendInt(append(dst, `,"number":`...), int64(e.Code.Number()), 10)
		dst = append(append(append(dst, `,"class":"`...), e.Code.Class()...), '"')
	}
	if e.Origin.By.Valid() {
		dst = append(append(append(dst, `,"origin":{"by":"`...), e.Origin.By...), `","inferred":`...)
		dst = append(strconv.AppendBool(dst, e.Origin.Inferred), '}')
	}
	if e.Code.Valid() {
		dst = e.Retry.AppendJSON(append(dst, `,"retry":`...))
	}
	return dst
}

func appendContext(dst []byte, e *Entry) []byte {
	dst = appendLabel(dst, "session_id", e.SessionID)
	dst = appendLabel(dst, "role", e.Role)
	if e.WorkspaceRoot != "" {
		dst = jsontext.AppendString(append(dst, `,"workspace_root":`...), rootdigest.Of(e.WorkspaceRoot))
	}
	dst = appendLabel(dst, "plan_hash", e.PlanHash)
	dst = appendLabel(dst, "phase_id", e.PhaseID)
	return appendLabel(dst, "invariant_id", e.InvariantID)
}

// argsDigestSize is how many bytes of the keyed digest of arguments are kept: enough to recognise equal arguments.
const argsDigestSize = 16

func (c *encoder) appendArgs(dst, args []byte) []byte {
	mac, ok := c.macs.Get().(hash.Hash)
	if !ok {
		return dst
	}
	defer c.macs.Put(mac)
	mac.Reset()
	mac.Write(args)
	var sum [sha256.Size]byte
	dst = hex.AppendEncode(append(dst, `,"args":{"digest":"hmac-sha256:`...), mac.Sum(sum[:0])[:argsDigestSize])
	dst = strconv.AppendInt(append(dst, `","bytes":`...), int64(len(args)), 10)
	return append(dst, '}')
}

// asSent is the redaction policy for sent envelopes. The client has seen their paths, so paths are kept.
var asSent = redact.Policy{KeepPaths: true}

func unchanged(b []byte) []byte { return b }

// appendText appends a received or sent text, redacted with clean. The size of the whole text is written only if the
// text was cut; otherwise readers compute size and digest from the text, see [RecordText.UnmarshalJSON].
func appendText(dst []byte, name string, b []byte, clean func([]byte) []byte) []byte {
	if b == nil {
		return dst
	}
	text, cut, redacted := boundText(b, clean)
	dst = append(append(append(dst, `,"`...), name...), `":{"text":`...)
	dst = jsontext.AppendString(dst, text)
	if cut {
		dst = strconv.AppendInt(append(dst, `,"bytes":`...), int64(len(b)), 10)
		dst = append(dst, `,"cut":true`...)
	}
	if redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	return append(dst, '}')
}

func appendData(dst []byte, e *Entry) []byte {
	switch {
	case e.raw != nil:
		return append(append(dst, `,"data":`...), e.raw...)
	case e.Data.IsZero():
		return dst
	}
	text := e.Data.String()
	if text[0] != '{' {
		return append(append(append(dst, `,"data":{"value":`...), text...), '}')
	}
	return append(append(dst, `,"data":`...), text...)
}

func appendLabel(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return jsontext.AppendString(dst, label(value))
}

// label returns s as entries store it: redacted, and cut to maxLabel bytes.
func label(s string) string {
	s = redact.Text(cutRunes(s, 4*maxLabel))
	if len(s) > maxLabel {
		s = cutRunes(s, maxLabel-len(cutMark)) + cutMark
	}
	return s
}

// cutMark ends a text that was cut.
const cutMark = "…"

// boundText redacts s, then cuts it, and reports which of the two changed the text. It redacts twice the limit, so
// that a secret across the cut is still recognised.
func boundText(s []byte, clean func([]byte) []byte) (text []byte, cut, redacted bool) {
	const scan = 2 * maxText
	if len(s) > scan {
		s, cut = cutRunes(s, scan), true
	}
	text = clean(s)
	if !utf8.Valid(text) { // redact returns valid UTF-8; this guards the digest, which depends on it
		text = []byte(string([]rune(string(text))))
	}
	redacted = !bytes.Equal(text, s)
	if cut || len(text) > maxText {
		text = append(cutRunes(text, min(len(text), maxText-len(cutMark))), cutMark...)
		cut = true
	}
	return text, cut, redacted
}

// cutRunes returns s cut to at most n bytes without splitting a rune. A cut result does not share memory with s.
func cutRunes[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	return T([]byte(s[:truncate.Border(s, n)]))
}

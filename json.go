package candor

import (
	"cmp"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/internal/truncate"
)

// JSONOptions selects the parts of an error that the canonical form shows. The zero value shows the least.
type JSONOptions struct {
	// Stack writes the stack, if the error carries one.
	Stack bool
	// PlainRoot writes workspace_root as a path. Otherwise it is a digest, because a path shows the
	// layout of the machine.
	PlainRoot bool
	// Lean leaves out what the reader knows: the call and the time, the domain candor, the number, the origin of a guess about a tool, and
	// a message or suggestion that is the code's in the catalogue.
	Lean bool
	// Brief writes only code and ref, and the domain unless it is candor, and the retry advice unless it is the code's. It is for places
	// that a model reads in addition to the readable text.
	Brief bool
}

// MarshalJSON returns the canonical form with the zero [JSONOptions].
func (e *Error) MarshalJSON() ([]byte, error) {
	return e.AppendJSON(nil, JSONOptions{}), nil
}

// AppendJSON appends the canonical form to dst: members are in the order of the written contract, and unknown context is omitted.
// An invalid Error is written as UNCODED_ERROR, a nil one as null. It does not allocate if dst has the capacity.
func (e *Error) AppendJSON(dst []byte, o JSONOptions) []byte {
	if e == nil {
		return append(dst, "null"...)
	}
	code := e.wireCode()
	dst = append(dst, `{"code":"`...)
	dst = append(append(dst, code.Symbol()...), '"')
	if o.Brief {
		return e.appendBrief(dst)
	}
	dst = appendMember(dst, "class", string(code.Class()))
	if message := cmp.Or(e.message, code.info().message); !o.Lean || message != code.info().message {
		dst = appendMember(dst, "message", message)
	}
	dst = append(dst, `,"retry":`...)
	dst = e.retry.AppendJSON(dst)
	if !o.Lean || e.suggestion != code.info().action {
		dst = appendMember(dst, "suggestion", e.suggestion)
	}
	if !e.details.IsZero() {
		dst = append(append(dst, `,"details":`...), e.details.json...)
	}
	if !o.Lean || code.Domain() != ownDomain {
		dst = appendMember(dst, "domain", code.Domain())
	}
	call := e.callInfo
	if o.Lean {
		call.SessionID, call.Tool = "", ""
	} else {
		dst = append(dst, `,"number":`...)
		dst = strconv.AppendInt(dst, int64(code.Number()), 10)
	}
	if !o.Lean || e.origin != (Origin{By: PartyTool, Inferred: true}) {
		dst = appendOrigin(dst, e.origin)
	}
	dst = append(dst, `,"ref":`...)
	dst = jsontext.AppendString(dst, e.ref)
	dst = call.appendJSON(dst, o)
	if !e.cause.IsZero() {
		dst = e.cause.AppendJSON(append(dst, `,"cause":`...))
	}
	if !e.at.IsZero() && !o.Lean {
		dst = timestamp.Append(append(dst, `,"timestamp":"`...), e.at)
		dst = append(dst, '"')
	}
	if o.Stack {
		dst = appendMember(dst, "stack", e.stack)
	}
	return append(dst, '}')
}

// ownDomain is the domain of an error that names none.
const ownDomain = "candor"

func (e *Error) appendBrief(dst []byte) []byte {
	if e.retry != e.wireCode().Retry() {
		dst = e.retry.AppendJSON(append(dst, `,"retry":`...))
	}
	if domain := e.wireCode().Domain(); domain != ownDomain {
		dst = appendMember(dst, "domain", domain)
	}
	return append(jsontext.AppendString(append(dst, `,"ref":`...), e.ref), '}')
}

// wireCode returns the code to write, which is UNCODED_ERROR for an invalid error.
func (e *Error) wireCode() Code {
	if !e.code.Valid() {
		return CodeUncodedError
	}
	return e.code
}

// AppendJSON appends {"kind":…}, with afterMs if the kind has a delay.
func (r Retry) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, r.Kind()...)
	dst = append(dst, '"')
	if r.afterMs > 0 {
		dst = strconv.AppendInt(append(dst, `,"afterMs":`...), r.afterMs, 10)
	}
	return append(dst, '}')
}

// MarshalJSON returns the wire form.
func (r Retry) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// UnmarshalJSON reads the wire form as [ParseRetry] does. On error, r is unchanged.
func (r *Retry) UnmarshalJSON(raw []byte) error {
	var form struct {
		Kind    RetryKind `json:"kind"`
		AfterMs *int64    `json:"afterMs"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return err
	}
	read, err := ParseRetry(form.Kind, form.AfterMs)
	if err == nil {
		*r = read
	}
	return err
}

// AppendJSON appends {"message","code","name"} with null for unknown members, or a JSON string for a cause that was only a text.
func (c Cause) AppendJSON(dst []byte) []byte {
	if c.Code == "" && c.Name == "" {
		return jsontext.AppendString(dst, c.Message)
	}
	dst = jsontext.AppendString(append(dst, `{"message":`...), c.Message)
	dst = appendNullable(append(dst, `,"code":`...), c.Code)
	dst = appendNullable(append(dst, `,"name":`...), c.Name)
	return append(dst, '}')
}

func appendOrigin(dst []byte, o Origin) []byte {
	dst = append(dst, `,"origin":{"by":"`...)
	dst = append(dst, cmp.Or(string(o.By), string(PartyServer))...)
	dst = append(dst, `","inferred":`...)
	return append(strconv.AppendBool(dst, o.Inferred), '}')
}

func (c *CallInfo) appendJSON(dst []byte, o JSONOptions) []byte {
	dst = appendMember(dst, "tool", c.Tool)
	dst = appendMember(dst, "role", c.Role)
	dst = appendMember(dst, "session_id", c.SessionID)
	if o.PlainRoot {
		dst = appendMember(dst, "workspace_root", c.WorkspaceRoot)
	} else if c.WorkspaceRoot != "" {
		dst = appendRootDigest(append(dst, `,"workspace_root":`...), c.WorkspaceRoot)
	}
	dst = appendMember(dst, "invariant_id", c.InvariantID)
	dst = appendMember(dst, "phase_id", c.PhaseID)
	return appendMember(dst, "plan_hash", c.PlanHash)
}

func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return jsontext.AppendString(dst, value)
}

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsontext.AppendString(dst, s)
}

// appendRootDigest appends the digest of a root as a JSON string.
func appendRootDigest(dst []byte, root string) []byte {
	var space [rootdigest.Size]byte
	return jsontext.AppendString(dst, string(rootdigest.Append(space[:0], root)))
}

// cleanRoot bounds a workspace root. It keeps the path, because the system-error dialect shows it to the session of the error.
func cleanRoot(root string) string { return truncate.Text(redact.Chars(root), limits.Text) }

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
	s = policy.Text(truncate.Text(s, maxScan))
	if len(s) <= limit {
		return s
	}
	end := limit
	for tries := 0; ; tries++ {
		cut := truncate.Text(s, end)
		clean := policy.Text(cut)
		if clean == cut {
			return cut
		}
		end = min(end-1, commonPrefix(cut, clean)+len(truncate.Mark))
		if tries > 8 { // a hostile text; it may lose more than necessary
			end /= 2
		}
		end = max(end, min(limit, len(truncate.Mark)))
	}
}

// fitText is [publicText] for a text that may take up to size bytes as a JSON string.
func fitText(s string, limit, size int) string { return fitClean(s, limit, size, redact.Policy{}) }

// fitPointer is [fitText] for a JSON Pointer, which looks like a path and is kept. Secrets in it are still redacted.
func fitPointer(s string, size int) string {
	return fitClean(s, limits.Text, size, redact.Policy{KeepPaths: true})
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
		limit = max(len(truncate.Mark), min(limit, len(s))-max(1, over/2))
		s = cleanText(s, limit, policy)
	}
}

// label cleans a short one-line identifier: it removes control characters, newlines and secrets with a known shape. It does not
// look for names and paths, and keeps ids and digests.
func label(s string) string {
	s = redact.Chars(truncate.Text(s, maxScan))
	if strings.ContainsAny(s, "\n\t") {
		s = oneLine.Replace(s)
	}
	return cleanText(s, limits.CallInfo, redact.Policy{ShapesOnly: true})
}

var oneLine = strings.NewReplacer("\n", "", "\t", "")

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// validJSON is text that is known to be one JSON value.
type validJSON string

// elements yields the elements of an array. Other values have no elements.
func (t validJSON) elements() iter.Seq[any] {
	return func(yield func(any) bool) {
		if t = t.trimmed(); t == "" || t[0] != '[' {
			return
		}
		for rest := t[1:].trimmed(); rest[0] != ']'; {
			n := rest.valueLen()
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:].afterComma()
		}
	}
}

// fields yields the members of an object, in order. Other values have no members.
func (t validJSON) fields() iter.Seq[field] {
	return func(yield func(field) bool) {
		if t = t.trimmed(); t == "" || t[0] != '{' {
			return
		}
		for rest := t[1:].trimmed(); rest[0] != '}'; {
			n := rest.valueLen()
			name := rest[:n].str()
			rest = rest[n:].trimmed()[len(`:`):].trimmed()
			n = rest.valueLen()
			if !yield(field{name, rest[:n]}) {
				return
			}
			rest = rest[n:].afterComma()
		}
	}
}

func (t validJSON) trimmed() validJSON { return validJSON(strings.Trim(string(t), " \t\r\n")) }

// afterComma returns the text after an element: the next element, or the closing bracket of the container.
func (t validJSON) afterComma() validJSON {
	t = t.trimmed()
	if t[0] == ',' {
		return t[1:].trimmed()
	}
	return t
}

// valueLen returns the length of the value at the start of the text.
func (t validJSON) valueLen() int {
	switch t[0] {
	case '"':
		return t.stringLen()
	case '[', '{':
	default:
		if n := strings.IndexAny(string(t), ",]} \t\r\n"); n >= 0 {
			return n
		}
		return len(t)
	}
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			i += t[i:].stringLen() - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(t)
}

func (t validJSON) stringLen() int {
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(t)
}

// str decodes a string.
func (t validJSON) str() string {
	inside := string(t[1 : len(t)-1])
	if strings.IndexByte(inside, '\\') < 0 && utf8.ValidString(inside) {
		return inside
	}
	var s string
	if json.Unmarshal([]byte(t), &s) != nil {
		return ""
	}
	return s
}

// scalar returns the text of a string or a number, and "" for any other value.
func (t validJSON) scalar() string {
	switch c := t[0]; {
	case c == '"':
		return t.str()
	case c == '-' || '0' <= c && c <= '9':
		return string(t)
	default:
		return ""
	}
}

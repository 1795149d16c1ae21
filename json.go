package candor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/timestamp"
)

// TimeLayout is the wire form of a timestamp: ISO 8601, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// JSONOptions selects the parts of an error that the canonical form shows. The zero value shows the least.
type JSONOptions struct {
	// Stack writes the stack, if the error carries one.
	Stack bool
	// PlainRoot writes workspace_root as a path. Otherwise it is a digest, because a path shows the
	// layout of the machine.
	PlainRoot bool
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
	dst = append(dst, code.Symbol()...)
	dst = append(dst, `","class":"`...)
	dst = append(dst, code.Class()...)
	dst = append(dst, `","message":`...)
	dst = jsontext.AppendString(dst, firstText(e.message, code.Sentence()))
	dst = append(dst, `,"retry":`...)
	dst = e.retry.AppendJSON(dst)
	dst = appendMember(dst, "suggestion", e.suggestion)
	if !e.details.IsZero() {
		dst = append(append(dst, `,"details":`...), e.details.json...)
	}
	dst = appendMember(dst, "domain", code.Domain())
	dst = append(dst, `,"number":`...)
	dst = strconv.AppendInt(dst, int64(code.Number()), 10)
	dst = appendOrigin(dst, e.origin)
	dst = append(dst, `,"ref":`...)
	dst = jsontext.AppendString(dst, e.ref)
	dst = e.callInfo.appendJSON(dst, o)
	if !e.cause.IsZero() {
		dst = e.cause.AppendJSON(append(dst, `,"cause":`...))
	}
	if !e.at.IsZero() {
		dst = timestamp.Append(append(dst, `,"timestamp":"`...), e.at)
		dst = append(dst, '"')
	}
	if o.Stack {
		dst = appendMember(dst, "stack", e.stack)
	}
	return append(dst, '}')
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
	dst = append(dst, firstText(string(o.By), string(PartyServer))...)
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

const (
	// rootDigestPrefix marks a workspace root of which only the digest is known.
	rootDigestPrefix = "sha256:"
	rootDigestSize   = 8 // bytes
)

// RootDigest returns a digest of a workspace root, so that roots can be compared without showing the path. The digest of a
// digest is itself.
func RootDigest(root string) string {
	if root == "" || isRootDigest(root) {
		return root
	}
	sum := sha256.Sum256([]byte(root))
	return rootDigestPrefix + hex.EncodeToString(sum[:rootDigestSize])
}

// isRootDigest reports whether root is exactly a digest. A path that only begins like one must not be shown.
func isRootDigest(root string) bool {
	digits, ok := strings.CutPrefix(root, rootDigestPrefix)
	return ok && len(digits) == 2*rootDigestSize && strings.Trim(digits, "0123456789abcdef") == ""
}

// appendRootDigest appends [RootDigest] as a JSON string, without allocating the string.
func appendRootDigest(dst []byte, root string) []byte {
	if isRootDigest(root) {
		return jsontext.AppendString(dst, root)
	}
	var space [MaxText]byte // a root is bounded by it, see cleanRoot
	sum := sha256.Sum256(append(space[:0], root...))
	dst = append(append(dst, '"'), rootDigestPrefix...)
	return append(hex.AppendEncode(dst, sum[:rootDigestSize]), '"')
}

// cleanRoot bounds a workspace root. It keeps the path, because the system-error dialect shows it to the session of the error.
func cleanRoot(root string) string { return cutText(redact.Chars(root), MaxText) }

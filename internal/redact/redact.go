package redact

import (
	"net/url"
	"slices"
	"strings"
	"unsafe"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// Policy says what may stay. The zero value keeps nothing and is what [Text] uses.
type Policy struct {
	// KeepPaths leaves absolute paths as they are, for texts that only their owner reads.
	// Secrets inside them still go.
	KeepPaths bool
	// ShapesOnly looks only for secrets that a shape gives away, wherever they stand: for identifiers, in which names and
	// words mean nothing. An identifier is whole: only "…" cuts it.
	ShapesOnly bool
}

// withheld stands for a text that does not settle. Rules feed on each other's output only in
// texts made for that purpose; such a text is better lost than half redacted.
const withheld = "[redacted:text]"

// rounds bounds the passes over one text and with it the cost. Texts found in the wild settle
// in the first and are confirmed by the second.
const rounds = 8

// Text returns s without secrets, URL credentials, directories of absolute paths and unsafe
// characters. Clean text comes back as the same string without allocation.
// Text(Text(s)) == Text(s), and the result is valid UTF-8.
func Text(s string) string { return Policy{}.Text(s) }

// Bytes is [Text] for bytes. Clean input comes back as the same slice; b is never written to.
func Bytes(b []byte) []byte { return Policy{}.Bytes(b) }

// Text is [Text] under the policy.
func (p Policy) Text(s string) string {
	s = clean(s)
	for range rounds {
		next, changed := p.pass(s)
		if !changed || next == s {
			return s
		}
		s = next
	}
	return withheld
}

// Bytes is [Bytes] under the policy.
func (p Policy) Bytes(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	// The view lives only as long as this call: what Text returns is either the view itself,
	// and then b is returned, or a new string.
	view := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
	text := p.Text(view)
	if len(text) == len(view) && unsafe.StringData(text) == unsafe.StringData(view) { //nolint:gosec // compared, not read
		return b
	}
	return []byte(text)
}

// pass applies every rule once, left to right.
func (p Policy) pass(s string) (string, bool) {
	x := scanner{s: s, keepPaths: p.KeepPaths || p.ShapesOnly, shapesOnly: p.ShapesOnly}
	x.run()
	if x.out == nil {
		return s, false
	}
	return string(append(x.out, s[x.done:]...)), true
}

// Placeholder stands for the value of a member whose name says that it holds a secret; see [Key].
const Placeholder = opening + kindSecret + "]"

// Chars returns s without unsafe characters and nothing else: for short identifiers, such as the name of a tool, in
// which secrets and paths are not to be looked for.
func Chars(s string) string { return clean(s) }

// Harmless reports whether the value of a member that may hold a secret does not: a word or sentence about the value, a
// variable, or a mask.
func Harmless(value string) bool { return harmless(value) }

// MayHold reports whether a member of this name holds a secret if its value is [Opaque], as key and sig do.
func MayHold(name string) bool { return meaningOf(name).level == weak }

// Opaque reports whether a value looks made by a machine, so that it is a secret behind a name that may be one.
func Opaque(value string) bool { return opaque(value, opaqueLength) && !harmless(value) }

// opaqueLength is the length from which the value of a name that proves little is taken for a secret.
const opaqueLength = 16

// forPages is how encoders write what must not end a script on a page.
var forPages = strings.NewReplacer("&", `\u0026`, "<", `\u003c`, ">", `\u003e`)

// Spellings are the forms in which a secret that is known to the letter may stand in an answer: as it is, and as encoders of JSON and of
// addresses write it. The first is the secret itself, and none is there twice.
func Spellings(secret string) []string {
	quoted := jsontext.AppendString(nil, secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	var forms []string
	for _, form := range []string{secret, inJSON, strings.ReplaceAll(inJSON, "/", `\/`), forPages.Replace(inJSON), url.QueryEscape(secret), url.PathEscape(secret)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

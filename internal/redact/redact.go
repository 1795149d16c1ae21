package redact

import (
	"net/url"
	"slices"
	"strings"
	"unsafe"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// Policy selects the parts that are kept. The zero value redacts everything, as [Text] does.
type Policy struct {
	// KeepPaths keeps absolute paths, for texts that only their owner reads.
	// Secrets inside them are still removed.
	KeepPaths bool
	// ShapesOnly searches only for secrets that are recognised by their shape, at any position. It is for identifiers, in which
	// names and words have no meaning. An identifier is complete: only "…" marks a truncated one.
	ShapesOnly bool
	// PathsOnly hides only directories, for texts that are without secrets already.
	PathsOnly bool
}

// withheld replaces a text for which the passes do not converge. Rules match each other's output only in
// texts made for that purpose; removing such a text is better than redacting a part of it.
const withheld = "[redacted:text]"

// rounds bounds the passes over one text and with it the cost. Ordinary texts are final after the
// first pass, which the second confirms.
const rounds = 8

// Text returns s without secrets, URL credentials, directories of absolute paths and unsafe
// characters. Clean text is returned as the same string without allocation.
// Text(Text(s)) == Text(s), and the result is valid UTF-8.
func Text(s string) string { return Policy{}.Text(s) }

// Bytes is [Text] for bytes. Clean input is returned as the same slice; b is never written to.
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
	// The view is used only during this call: Text returns either the view itself,
	// in which case b is returned, or a new string.
	view := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
	text := p.Text(view)
	if len(text) == len(view) && unsafe.StringData(text) == unsafe.StringData(view) { //nolint:gosec // compared, not read
		return b
	}
	return []byte(text)
}

// pass applies every rule once, left to right.
func (p Policy) pass(s string) (string, bool) {
	x := scanner{s: s, keepPaths: p.KeepPaths || p.ShapesOnly, shapesOnly: p.ShapesOnly, pathsOnly: p.PathsOnly}
	x.run()
	if x.out == nil {
		return s, false
	}
	return string(append(x.out, s[x.done:]...)), true
}

// Placeholder replaces the value of a member with a name that indicates a secret; see [Key].
const Placeholder = opening + kindSecret + "]"

// Chars returns s without unsafe characters. It is for short identifiers, such as the name of a tool, that should
// not be searched for secrets and paths.
func Chars(s string) string { return clean(s) }

// Harmless reports whether the value of a member that may hold a secret is not one: it is a word or sentence about the value, a
// variable, or a mask.
func Harmless(value string) bool { return harmless(value) }

// MayHold reports whether a member of this name holds a secret if its value is [Opaque], as key and sig do.
func MayHold(name string) bool { return meaningOf(name).level == weak }

// Short reports whether a name ends in a word that means a secret more often than not, but also a result or the key of
// a record.
func Short(name string) bool {
	name = strings.ToLower(name)
	return shortNames[name[strings.LastIndexAny(name, "_-")+1:]]
}

var shortNames = set("pass", "ak", "sk")

// Opaque reports whether a value looks machine-generated, so that it counts as a secret after a name for which [MayHold] is true.
func Opaque(value string) bool { return opaque(value, opaqueLength) && !harmless(value) }

// opaqueLength is the minimum length of an opaque value after a weak name.
const opaqueLength = 16

// forPages escapes the characters that JSON encoders escape for use in HTML.
var forPages = strings.NewReplacer("&", `\u0026`, "<", `\u003c`, ">", `\u003e`)

// Spellings returns the forms in which a known secret may appear in an answer: unchanged, and as encoders of JSON and of
// URLs write it. The first is the secret itself, and there are no duplicates.
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

package redact

import "unsafe"

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

// Package redactjson removes secrets and unsafe characters from JSON values. JSON has more context than plain text: the
// name of a member, a label beside a value ({"name":"password","value":…}) and a flag before a value (["--password",…])
// mark a secret. Strings are cleaned by [redact.Policy].
package redactjson

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// Cleaner cleans values under a policy. The zero value also hides the directories of paths, as [redact.Text] does.
type Cleaner struct {
	redact.Policy
	// Fixed, if not nil, reports the members of the outermost object that are copied unchanged.
	Fixed func(name string) bool
}

// maxNested is the maximum depth of strings that hold JSON and are parsed as JSON.
const maxNested = 3

// maxNestedBytes is the maximum length of such a string; a longer one is cleaned as text.
const maxNestedBytes = 256 << 10

// Append appends v to dst with its strings cleaned and reports whether anything changed. Parts that need no change keep
// their bytes.
func (c Cleaner) Append(dst []byte, v wire.Value) ([]byte, bool) {
	w := walk{policy: c.Policy}
	if c.Fixed != nil && v.Type() == wire.TypeObject {
		return w.object(dst, v, none, c.Fixed)
	}
	return w.value(dst, v, none)
}

// Text returns text without secrets. A text that is itself JSON is cleaned as a value.
func (c Cleaner) Text(text string) string {
	w := walk{policy: c.Policy}
	return w.text(text)
}

// scope is the knowledge about a value that its position gives.
type scope uint8

const (
	none   scope = iota
	secret       // its name, label or flag names a secret
	within       // it is part of a secret object, such as credentials
	opaque       // its name may name a secret; it is redacted only if it looks like one
	short        // like opaque, and a short value that mixes letters and digits is redacted too
)

// walk is one pass over a value.
type walk struct {
	policy redact.Policy
	nested int       // number of enclosing strings that were parsed as JSON
	list   *Sequence // of the list whose text comes next
}

func (w *walk) value(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	switch v.Type() {
	case wire.TypeString:
		return w.string(dst, v, s)
	case wire.TypeNumber:
		if (s == secret || s == within) && len(v.Raw()) >= leastDigits {
			return jsontext.AppendString(dst, redact.Placeholder), true
		}
		return append(dst, v.Raw()...), false
	case wire.TypeArray:
		return w.array(dst, v, s)
	case wire.TypeObject:
		return w.object(dst, v, s, nil)
	default:
		return append(dst, v.Raw()...), false
	}
}

// leastDigits is the length of the shortest number that is treated as a secret. Shorter ones are counts and limits.
const leastDigits = 4

func (w *walk) string(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	text, _ := v.Str()
	clean := text
	if w.list != nil {
		clean = w.list.Next(text)
		w.list = nil
	}
	if s == none || !isSecret(text, s) {
		clean = w.text(clean)
	} else if text != "" && text != redact.Placeholder {
		clean = redact.Placeholder
	}
	if clean == text && !repaired(text) {
		return append(dst, v.Raw()...), false
	}
	return jsontext.AppendString(dst, clean), true
}

func isSecret(text string, s scope) bool {
	switch s {
	case opaque:
		return redact.Opaque(text)
	case short:
		return redact.Opaque(text) || len(text) >= leastShort && strings.ContainsAny(text, "0123456789") &&
			strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsAny(text, " #:/") && !redact.Harmless(text)
	default:
		return !redact.Harmless(text)
	}
}

// leastShort is the length of the shortest value that is redacted under a name such as pass.
const leastShort = 6

// text cleans a text that is not known to be a secret as a whole.
func (w *walk) text(text string) string {
	if w.nested < maxNested && len(text) <= maxNestedBytes && holdsJSON(text) {
		if v, err := wire.ParseValue([]byte(text), wire.Limits{}); err == nil {
			w.nested++
			out, changed := w.value(nil, v, none)
			w.nested--
			if changed {
				text = string(out)
			}
		}
	}
	return w.policy.Text(text)
}

// holdsJSON reports whether a text looks like a JSON object or array that contains strings.
func holdsJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && strings.IndexByte(trimmed, '"') > 0
}

func (w *walk) array(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	start, changed, n := len(dst), false, 0
	before, list := "", &Sequence{}
	dst = append(dst, '[')
	for element := range v.Elements() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		var c bool
		if _, ok := textOf(element); ok {
			w.list = list
		} else {
			list = &Sequence{}
		}
		dst, c = w.value(dst, element, max(s, behind(before)))
		w.list, changed = nil, changed || c
		before, _ = element.Str()
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, ']'), true
}

// behind returns the scope of an element that follows the string before: ["--password","x"] gives secret, and
// ["x-api-key","x"] gives opaque, because it may also be a list of names.
func behind(before string) scope {
	switch {
	case redact.Flag(before):
		return secret
	case before == "" || before[0] == '-' || strings.ContainsAny(before, " =") || !redact.Key(before):
		return none
	}
	return opaque
}

// object cleans the members of v, except for those that are fixed.
func (w *walk) object(dst []byte, v wire.Value, s scope, fixed func(string) bool) ([]byte, bool) {
	start, changed, n := len(dst), false, 0
	labelled, list := hasSecretLabel(v), w.list
	w.list = nil
	dst = append(dst, '{')
	for name, value := range v.Members() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		key, _ := name.Str()
		if fixed != nil && fixed(key) {
			dst = append(append(append(dst, name.Raw()...), ':'), value.Raw()...)
			continue
		}
		var named, valued bool
		dst, named = w.name(dst, name, n)
		if key == "text" || key == "resource" {
			w.list = list
		}
		dst, valued = w.value(append(dst, ':'), value, memberScope(s, key, labelled))
		changed = changed || named || valued
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, '}'), true
}

// memberScope returns the scope of the member key of an object with the scope s.
func memberScope(s scope, key string, labelled bool) scope {
	switch {
	case redact.Key(key), labelled && redact.Labelled(key):
		return secret
	case (s == secret || s == within) && !descriptions[key]:
		return within
	case redact.Short(key):
		return short
	case redact.MayHold(key):
		return opaque
	}
	return none
}

// descriptions are members that describe a secret and do not hold it, as in a schema.
var descriptions = set("type", "name", "title", "description", "message", "msg", "format", "pattern", "path", "expected", "rule", "hint", "error", "code",
	"id", "ref", "$ref", "required", "keyword", "expires", "expiresAt", "expires_at", "expires_in", "user", "username", "enum", "minLength", "maxLength")

// hasSecretLabel reports whether a label of v names a secret.
func hasSecretLabel(v wire.Value) bool {
	for name, value := range v.Members() {
		if key, _ := name.Str(); redact.Labels(key) && namesSecret(value) {
			return true
		}
	}
	return false
}

// namesSecret reports whether a label names a secret. The label may be a string, a path to a member, or a list, of
// which the last element counts.
func namesSecret(label wire.Value) bool {
	last := label
	if label.Type() == wire.TypeArray {
		for step := range label.Elements() {
			last = step
		}
	}
	text, ok := last.Str()
	return ok && redact.Label(text)
}

// name appends the name of the nth member. A changed name gets the number n as a suffix, because two redacted names
// could be equal.
func (w *walk) name(dst []byte, name wire.Value, n int) ([]byte, bool) {
	text, _ := name.Str()
	clean := w.policy.Text(text)
	if clean == text && !repaired(text) {
		return append(dst, name.Raw()...), false
	}
	return jsontext.AppendString(dst, clean+"-"+strconv.Itoa(n)), true
}

// repaired reports whether a text may have been read from half a surrogate pair, so that its raw form is not valid.
func repaired(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

func set(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

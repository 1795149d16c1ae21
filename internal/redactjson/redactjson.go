// Package redactjson removes secrets and unsafe characters from JSON values. A value tells more than a text does: the name of a
// member, a label beside a value ({"name":"password","value":…}) and a flag in front of one (["--password",…]) say that it is a
// secret. Texts are cleaned by [redact.Policy].
package redactjson

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// Cleaner cleans values under a policy. The zero value hides the directories of paths too, as [redact.Text] does.
type Cleaner struct {
	redact.Policy
	// Fixed, if not nil, reports the members of the outermost object that are copied as they are.
	Fixed func(name string) bool
}

// maxNested bounds how often a text that holds JSON is read as JSON again.
const maxNested = 3

// maxNestedBytes bounds such a text; a longer one is cleaned as text.
const maxNestedBytes = 256 << 10

// Append appends v to dst with its texts cleaned and reports whether anything changed. What needs no change stays to the byte.
func (c Cleaner) Append(dst []byte, v wire.Value) ([]byte, bool) {
	w := walk{policy: c.Policy}
	if c.Fixed != nil && v.Type() == wire.TypeObject {
		return w.object(dst, v, none, c.Fixed)
	}
	return w.value(dst, v, none)
}

// Text returns text without secrets. A text that is JSON itself is cleaned as a value.
func (c Cleaner) Text(text string) string {
	w := walk{policy: c.Policy}
	return w.text(text)
}

// scope says what is known of a value from where it stands.
type scope uint8

const (
	none   scope = iota
	secret       // the name, label or flag in front of it is that of a secret
	within       // it is part of an object that is one, such as credentials
	opaque       // a name in front of it may be that of a secret: it is one only if it looks like one
)

// walk is one pass over a value.
type walk struct {
	policy redact.Policy
	nested int // texts that were read as JSON on the way here
}

func (w *walk) value(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	switch v.Type() {
	case wire.TypeString:
		return w.string(dst, v, s)
	case wire.TypeNumber:
		if (s == secret || s == within) && len(v.Raw()) >= leastDigits {
			return wire.AppendString(dst, redact.Placeholder), true
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

// leastDigits is the length of the shortest number that is taken for a secret: shorter ones are counts and limits.
const leastDigits = 4

func (w *walk) string(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	text, _ := v.Str()
	clean := text
	if s == none || !isSecret(text, s) {
		clean = w.text(text)
	} else if text != "" && text != redact.Placeholder {
		clean = redact.Placeholder
	}
	if clean == text && !repaired(text) {
		return append(dst, v.Raw()...), false
	}
	return wire.AppendString(dst, clean), true
}

func isSecret(text string, s scope) bool {
	if s == opaque {
		return redact.Opaque(text)
	}
	return !redact.Harmless(text)
}

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

// holdsJSON reports whether a text looks like an object or a list with texts in it.
func holdsJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && strings.IndexByte(trimmed, '"') > 0
}

func (w *walk) array(dst []byte, v wire.Value, s scope) ([]byte, bool) {
	start, changed, n := len(dst), false, 0
	before := ""
	dst = append(dst, '[')
	for element := range v.Elements() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		var c bool
		dst, c = w.value(dst, element, max(s, behind(before)))
		changed = changed || c
		before, _ = element.Str()
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, ']'), true
}

// behind is the scope of an element behind the text before it: ["--password","x"] gives a secret, and so may ["x-api-key","x"],
// although it may as well be a list of names.
func behind(before string) scope {
	flag := strings.TrimLeft(before, "-")
	switch {
	case before == "" || strings.ContainsAny(before, " =") || !redact.Key(flag):
		return none
	case len(flag) < len(before):
		return secret
	}
	return opaque
}

// object cleans the members of v, but for those that are fixed.
func (w *walk) object(dst []byte, v wire.Value, s scope, fixed func(string) bool) ([]byte, bool) {
	start, changed, n := len(dst), false, 0
	labelled := hasSecretLabel(v)
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
		dst, valued = w.value(append(dst, ':'), value, memberScope(s, key, labelled))
		changed = changed || named || valued
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, '}'), true
}

// memberScope is the scope of the member key of an object that stands in the scope s.
func memberScope(s scope, key string, labelled bool) scope {
	switch {
	case redact.Key(key), labelled && values[key]:
		return secret
	case (s == secret || s == within) && !descriptions[key]:
		return within
	case redact.MayHold(key):
		return opaque
	}
	return none
}

// values are the members that hold what a label in the same object names.
var values = set("value", "val", "Value", "input", "content", "received", "got", "actual", "rejectedValue", "rejected_value",
	"attemptedValue", "invalidValue", "invalid_value", "input_value", "data", "default", "provided")

// labels are the members that name it.
var labels = set("name", "Name", "key", "Key", "header", "param", "parameter", "field", "variable", "env", "path", "loc", "property", "label",
	"arg", "argument", "attribute", "instancePath", "pointer")

// descriptions are members that tell about a secret and do not hold it, as a schema does.
var descriptions = set("type", "name", "title", "description", "message", "msg", "format", "pattern", "path", "expected", "rule", "hint", "error", "code",
	"id", "ref", "$ref", "required", "keyword", "expires", "expiresAt", "expires_at", "expires_in", "user", "username", "enum", "minLength", "maxLength")

// hasSecretLabel reports whether a member of v says that its value is a secret.
func hasSecretLabel(v wire.Value) bool {
	for name, value := range v.Members() {
		if key, _ := name.Str(); labels[key] && namesSecret(value) {
			return true
		}
	}
	return false
}

// namesSecret reports whether a label is the name of a secret: a text, a path to a member, or the last step of a list.
func namesSecret(label wire.Value) bool {
	last := label
	if label.Type() == wire.TypeArray {
		for step := range label.Elements() {
			last = step
		}
	}
	text, ok := last.Str()
	return ok && len(text) <= maxLabel && redact.Key(text[strings.LastIndexAny(text, "/.")+1:])
}

// maxLabel bounds a label; a longer text is prose.
const maxLabel = 128

// name appends the name of the nth member. A changed one gets its number, because two secrets of a kind would have one name.
func (w *walk) name(dst []byte, name wire.Value, n int) ([]byte, bool) {
	text, _ := name.Str()
	clean := w.policy.Text(text)
	if clean == text && !repaired(text) {
		return append(dst, name.Raw()...), false
	}
	return wire.AppendString(dst, clean+"-"+strconv.Itoa(n)), true
}

// repaired reports a text that may have been read from half a surrogate pair, so that its raw form is not valid.
func repaired(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

func set(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

package gateway

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// clean appends a failing answer to dst with the secrets and control characters in its texts gone. Its shape, id, numbers and
// everything else stay to the byte.
func clean(dst []byte, m *wire.Message) []byte {
	if m.Value().Type() != wire.TypeObject {
		return append(dst, m.Bytes()...)
	}
	out, changed := cleanObject(dst, m.Value(), isFixed)
	if !changed {
		return append(dst, m.Bytes()...)
	}
	return out
}

// isFixed reports a member of a message by which it is known as the answer.
func isFixed(name string) bool { return name == "id" || name == "jsonrpc" }

func notFixed(string) bool { return false }

// cleanWords is clean for words of an upstream that are not JSON-RPC, and may be JSON or not.
func cleanWords(words []byte, limits wire.Limits) []byte {
	v, err := wire.ParseValue(words, limits)
	if err != nil {
		return ownWords.Bytes(words)
	}
	cleaned, changed := cleanValue(nil, v, false)
	if !changed {
		return words
	}
	return cleaned
}

// ownWords keeps paths: the upstream said them to its own client, who may have named them first.
var ownWords = redact.Policy{KeepPaths: true}

// cleanValue appends v with its texts cleaned; secret says that its name is that of a secret. It reports whether anything changed.
func cleanValue(dst []byte, v wire.Value, secret bool) ([]byte, bool) {
	switch v.Type() {
	case wire.TypeString:
		text, _ := v.Str()
		clean := ownWords.Text(text)
		if secret && text != "" {
			clean = "[redacted]"
		}
		if clean == text && !mended(text) {
			return append(dst, v.Raw()...), false
		}
		return wire.AppendString(dst, clean), true
	case wire.TypeArray:
		return cleanArray(dst, v, secret)
	case wire.TypeObject:
		return cleanObject(dst, v, notFixed)
	default:
		return append(dst, v.Raw()...), false
	}
}

func cleanArray(dst []byte, v wire.Value, secret bool) ([]byte, bool) {
	start, changed := len(dst), false
	dst = append(dst, '[')
	first := true
	for element := range v.Elements() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		var c bool
		dst, c = cleanValue(dst, element, secret)
		changed = changed || c
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, ']'), true
}

// cleanObject leaves the members alone that are fixed.
func cleanObject(dst []byte, v wire.Value, fixed func(name string) bool) ([]byte, bool) {
	start, changed := len(dst), false
	dst = append(dst, '{')
	n := 0
	for name, value := range v.Members() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		key, _ := name.Str()
		if fixed(key) {
			dst = append(append(append(dst, name.Raw()...), ':'), value.Raw()...)
			continue
		}
		var named, valued bool
		dst, named = cleanName(dst, name, n)
		dst, valued = cleanValue(append(dst, ':'), value, contract.SecretName(key))
		changed = changed || named || valued
	}
	if !changed {
		return append(dst[:start], v.Raw()...), false
	}
	return append(dst, '}'), true
}

// cleanName appends the name of the nth member. One that is changed gets its number, because two secrets of a kind would have one name.
func cleanName(dst []byte, name wire.Value, n int) ([]byte, bool) {
	text, _ := name.Str()
	clean := ownWords.Text(text)
	if clean == text && !mended(text) {
		return append(dst, name.Raw()...), false
	}
	return wire.AppendString(dst, clean+"-"+strconv.Itoa(n)), true
}

// mended reports a text that may have been read from half a surrogate pair, so that its raw form is none.
func mended(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

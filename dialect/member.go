package dialect

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// The functions below read and write the members that several shapes share.

var errNotRetry = errors.New("retry is not an object with kind and, for retryable_after_ms, afterMs")

// parseRetry reads retry advice in its canonical form. It rejects an object with other members.
func parseRetry(v wire.Value) (candor.Retry, error) {
	kind, ok := v.Path("kind").Str()
	if !ok {
		return candor.Retry{}, errNotRetry
	}
	var after *int64
	want := 1
	if member, has := v.Get("afterMs"); has {
		ms, whole := member.Int64()
		if !whole {
			return candor.Retry{}, errors.New("retry.afterMs is not a whole number")
		}
		after, want = &ms, 2
	}
	if v.Len() != want {
		return candor.Retry{}, errNotRetry
	}
	return candor.ParseRetry(candor.RetryKind(kind), after)
}

// parseCause reads {message, code, name}. A code may be a number, as errno is in some systems.
func parseCause(v wire.Value) (candor.Cause, bool) {
	message, ok := v.Path("message").Str()
	if !ok {
		return candor.Cause{}, false
	}
	return candor.Cause{Message: message, Code: scalarText(v.Path("code")), Name: scalarText(v.Path("name"))}, true
}

// scalarText returns the text of a string or number, or "" for any other value.
func scalarText(v wire.Value) string {
	if v.Type() == wire.TypeNumber {
		return string(v.Raw())
	}
	s, _ := v.Str()
	return s
}

// appendMember appends ,"name":"text" unless the text is empty.
func appendMember(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return jsontext.AppendString(appendName(dst, name), text)
}

// appendNullable appends ,"name":"text", with null for an empty text.
func appendNullable(dst []byte, name, text string) []byte {
	if text == "" {
		return append(appendName(dst, name), "null"...)
	}
	return jsontext.AppendString(appendName(dst, name), text)
}

// appendName appends ,"name": for a name that needs no escapes.
func appendName(dst []byte, name string) []byte {
	return append(append(append(dst, `,"`...), name...), `":`...)
}

// appendRaw appends ,"name":raw.
func appendRaw[T ~string | ~[]byte](dst []byte, name string, raw T) []byte {
	return append(appendName(dst, name), raw...)
}

func appendInt(dst []byte, name string, n int64) []byte {
	return strconv.AppendInt(appendName(dst, name), n, 10)
}

func appendBool(dst []byte, name string, b bool) []byte {
	return strconv.AppendBool(appendName(dst, name), b)
}

// object collects members in order. The zero object is empty; each method returns the extended object.
type object struct{ out []byte }

func (b object) empty() bool { return len(b.out) == 0 }

func (b object) name(name string) object {
	b.out = append(b.out, ',')
	b.out = append(jsontext.AppendString(b.out, name), ':')
	return b
}

func (b object) text(name, text string) object {
	b = b.name(name)
	b.out = jsontext.AppendString(b.out, text)
	return b
}

func (b object) raw(name string, raw []byte) object {
	b = b.name(name)
	b.out = append(b.out, raw...)
	return b
}

func (b object) texts(name string, texts []string) object {
	b = b.name(name)
	for i, text := range texts {
		b.out = jsontext.AppendString(append(b.out, "[,"[min(i, 1)]), text)
	}
	b.out = append(b.out, ']')
	return b
}

// keep adds a member as it was written.
func (b object) keep(name, value wire.Value) object {
	b.out = append(append(append(append(b.out, ','), name.Raw()...), ':'), value.Raw()...)
	return b
}

// appendTo appends the object to dst.
func (b object) appendTo(dst []byte) []byte {
	if b.empty() {
		return append(dst, `{}`...)
	}
	return append(append(append(dst, '{'), b.out[1:]...), '}')
}

func (b object) json() json.RawMessage { return b.appendTo(nil) }

// value parses the object, for members that are looked up again.
func (b object) value() wire.Value {
	v, err := wire.ParseValue(b.json(), wire.Limits{})
	if err != nil {
		return wire.Value{}
	}
	return v
}

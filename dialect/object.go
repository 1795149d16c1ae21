package dialect

import (
	"encoding/json"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

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

package foreign

import (
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// clip cuts s to limit bytes on a rune border. It adds no mark: the constructors of candor do.
func clip(s string, limit int) string {
	return s[:truncate.Border(s, limit)]
}

// parse reads s as JSON if it looks like an object, an array or a string.
func parse(s string) (wire.Value, bool) {
	if len(s) < 2 || len(s) > MaxJSON {
		return wire.Value{}, false
	}
	if c := s[0]; c != '{' && c != '[' && c != '"' {
		return wire.Value{}, false
	}
	v, err := wire.ParseValue([]byte(s), wire.Limits{MaxBytes: MaxJSON, MaxDepth: 64, AllowLoneSurrogates: true})
	return v, err == nil
}

// str is the text of a string value, bounded; "" for other types.
func str(v wire.Value) string {
	if v.Type() != wire.TypeString {
		return ""
	}
	s, _ := v.Str()
	return s
}

// lowerASCII is lower case byte for byte, so that positions stay what they were.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if isUpper(c) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

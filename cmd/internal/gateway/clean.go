package gateway

import (
	"bytes"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// TextPolicy keeps paths, because they are part of the upstream's answer and the client may have sent them.
var TextPolicy = redact.Policy{KeepPaths: true}

// isFixed reports whether a member identifies a message as the answer and must not be changed.
func isFixed(name string) bool { return name == "id" || name == "jsonrpc" }

// cleanValue returns the cleaned bytes of a part of an answer.
func cleanValue(v wire.Value) []byte {
	out, _ := redactjson.Cleaner{Policy: TextPolicy}.Append(nil, v)
	return out
}

// CleanText returns text from an upstream, JSON or not, without secrets and control characters.
func CleanText(words []byte, limits wire.Limits) []byte {
	v, err := wire.ParseValue(words, limits)
	if err != nil {
		return TextPolicy.Bytes(words)
	}
	return cleanValue(v)
}

const (
	// MaxNoiseBytes bounds the part of unexpected output that is logged.
	MaxNoiseBytes = 256
	// MaxNoiseScan bounds the part of unexpected output that is examined.
	MaxNoiseScan = 4 << 10
)

// Excerpt returns the beginning of a server's output, shortened and without secrets.
func Excerpt(said []byte, whole bool, limit int) string {
	if len(said) > MaxNoiseScan {
		said, whole = said[:MaxNoiseScan], false
	}
	if !whole { // a truncated secret might not be recognised
		said = said[:bytes.LastIndexAny(said, " \"")+1]
	}
	return candor.Public(string(said), limit)
}

package gateway

import (
	"bytes"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// TextPolicy keeps paths: the upstream said them to its own client, which may have named them first.
var TextPolicy = redact.Policy{KeepPaths: true}

// isFixed reports a member of a message by which it is known as the answer.
func isFixed(name string) bool { return name == "id" || name == "jsonrpc" }

// cleanValue returns the bytes of a part of an answer, cleaned.
func cleanValue(v wire.Value) []byte {
	out, _ := redactjson.Cleaner{Policy: TextPolicy}.Append(nil, v)
	return out
}

// CleanText returns words of an upstream, which may be JSON or not, without secrets and control characters.
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

// Excerpt is the beginning of what a server said, fit to be kept: short and without secrets.
func Excerpt(said []byte, whole bool, limit int) string {
	if len(said) > MaxNoiseScan {
		said, whole = said[:MaxNoiseScan], false
	}
	if !whole { // half a secret does not look like one
		said = said[:bytes.LastIndexAny(said, " \"")+1]
	}
	return contract.Bound(string(said), limit)
}

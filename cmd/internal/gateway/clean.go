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

// clean appends a failing answer to dst with the secrets and control characters in its texts gone. Its shape, id, numbers and
// everything else stay to the byte.
func clean(dst []byte, m *wire.Message) []byte {
	if m.Value().Type() != wire.TypeObject {
		return append(dst, m.Bytes()...)
	}
	out, changed := redactjson.Cleaner{Policy: TextPolicy, Fixed: isFixed}.Append(dst, m.Value())
	if !changed {
		return append(dst, m.Bytes()...)
	}
	return out
}

// maxCleanedAsValue bounds the texts that are parsed as JSON to be recorded. The ledger keeps only the beginning of
// longer ones, redacted as text.
const maxCleanedAsValue = 256 << 10

// recordable returns the text of an upstream as the ledger may keep it: without the secrets that the server was
// started with, and without values that a name beside them marks as secret.
func (u *Upstream) recordable(said []byte) []byte {
	said = u.Secrets.Load().Redact(said)
	if len(said) == 0 || len(said) > maxCleanedAsValue {
		return said
	}
	return CleanText(said, u.Options.Limits.Message)
}

// isFixed reports a member of a message by which it is known as the answer.
func isFixed(name string) bool { return name == "id" || name == "jsonrpc" }

// cleanValue returns the bytes of a part of an answer, cleaned.
func cleanValue(v wire.Value) []byte {
	out, _ := redactjson.Cleaner{Policy: TextPolicy}.Append(nil, v)
	return out
}

// CleanText redacts a text of an upstream that is not JSON-RPC.
func CleanText(words []byte, limits wire.Limits) []byte {
	v, err := wire.ParseValue(words, limits)
	if err != nil {
		return TextPolicy.Bytes(words)
	}
	return cleanValue(v)
}

const (
	MaxNoiseBytes = 256 // logged bytes of unexpected output
	MaxNoiseScan  = 4 << 10
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

package gateway

import (
	"crypto/sha256"

	"github.com/candor-mcp/candor/wire"
)

// IDKey returns the map key for an id or a progress token. Long ids are hashed, so that the memory for a call does not depend on
// the id that the client chose.
//
// IDKey can be inlined, so that a key used only for a lookup stays on the stack.
func IDKey(id wire.ID) string {
	var space [maxKey + 1]byte
	return string(appendIDKey(space[:0], id))
}

func appendIDKey(dst []byte, id wire.ID) []byte {
	key := id.AppendKey(dst)
	if len(key) > maxKey {
		sum := sha256.Sum256(key)
		key = append(append(dst, '#'), sum[:]...)
	}
	return key
}

// maxKey is the length of the longest key that is not hashed.
const maxKey = 64

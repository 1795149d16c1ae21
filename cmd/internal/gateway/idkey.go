package gateway

import (
	"crypto/sha256"

	"github.com/candor-mcp/candor/wire"
)

// IDKey is the form of an id, or of a progress token, that serves as a key. A long one is digested, so that what is remembered of
// a call stays small whatever the client calls it.
//
// It is small enough to be inlined, so that a key which is only looked up stays on the stack.
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

// maxKey is the longest key that is kept as it is.
const maxKey = 64

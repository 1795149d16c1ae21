package gateway

import (
	"crypto/sha256"

	"github.com/candor-mcp/candor/wire"
)

// idKey is the form of an id, or of a progress token, that serves as a key. A long one is digested, so that what is remembered of
// a call stays small whatever the client calls it.
//
// It is small enough to be inlined, so that a key which is only looked up stays on the stack.
func idKey(id wire.ID) string {
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

// lateIDs remembers the calls that were given up while an answer may still come. It forgets the oldest when it is full.
type lateIDs struct {
	limit int
	has   map[string]struct{}
	order []string // oldest first, from next on
	next  int
}

func newLateIDs(limit int) *lateIDs { return &lateIDs{limit: limit, has: map[string]struct{}{}} }

func (l *lateIDs) add(key string) {
	if _, ok := l.has[key]; ok {
		return
	}
	if len(l.order) < l.limit {
		l.order = append(l.order, key)
	} else {
		delete(l.has, l.order[l.next])
		l.order[l.next] = key
		l.next = (l.next + 1) % l.limit
	}
	l.has[key] = struct{}{}
}

// arrived reports whether the answer to a call that was given up has come now. It comes once.
func (l *lateIDs) arrived(key string) bool {
	_, ok := l.has[key]
	delete(l.has, key)
	return ok
}

func (l *lateIDs) awaits(key string) bool {
	_, ok := l.has[key]
	return ok
}

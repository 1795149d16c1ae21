package kaiza

import (
	"bytes"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

var sessionID = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// discreet shortens the ids of all sessions but the caller's own: over HTTP without protocol sessions whoever has an id may act under it.
func discreet(own string, text []byte) []byte {
	return sessionID.Get().ReplaceAllFunc(text, func(id []byte) []byte {
		if string(id) == own {
			return id
		}
		return append(bytes.Clone(id[:8]), "-…"...)
	})
}

// shownTo is the lock as a session may see it: without the id of another.
func (l *Lock) shownTo(own string) *Lock {
	if l == nil {
		return nil
	}
	shown := *l
	shown.Session = string(discreet(own, []byte(l.Session)))
	return &shown
}

package httpgate

import (
	"net/http"
)

// Keeper is what every [Upstream.Door] is: it knows which requests belong to a connection that began at it and can go on nowhere
// else. Whoever replaces a door by another sends those to the old one.
type Keeper interface {
	Keeps(r *http.Request) bool
}

// Keeps reports a message of a legacy session: its answer comes on a stream that this door holds open.
func (d *Handler) Keeps(r *http.Request) bool {
	key := r.URL.Query().Get(legacyKey)
	return key != "" && d.legacy.get(key) != nil
}

package gateway

import (
	"errors"
	"net/http"
)

// ErrDraining is the cause to cancel the context of a request with when a gateway ends and cannot wait any longer: the call is
// answered with GATEWAY_DRAINING, where a client that hung up would get no answer.
var ErrDraining = errors.New("the gateway ends")

// Keeper is what every [Upstream.Door] is: it knows which requests belong to a connection that began at it and can go on nowhere
// else. Whoever replaces a door by another sends those to the old one.
type Keeper interface {
	Keeps(r *http.Request) bool
}

// Keeps reports a message of a legacy session: its answer comes on a stream that this door holds open.
func (d *httpDoor) Keeps(r *http.Request) bool {
	key := r.URL.Query().Get(legacyKey)
	return key != "" && d.legacy.get(key) != nil
}

package share

import (
	"encoding/json"
	"time"
)

// Upstream is a server that several nodes call. All methods of a nil Upstream do nothing.
type Upstream struct {
	g    *Group
	id   ID
	name string
	hear func(Report) // guarded by the mutex of the group
}

// Report is what another node has found out. Its texts were checked: they are short and harmless.
type Report struct {
	Node  string
	Code  string // of the failures, as domain/SYMBOL
	Count int    // of failures
	Ref   string // of the last failure, or ""
	Since time.Time
	// Closed means that the server answers again.
	Closed bool
}

// Upstream returns the server with that name and address. Nodes mean the same server if both are equal.
func (g *Group) Upstream(name, address string) *Upstream {
	if g == nil {
		return nil
	}
	id := g.id("upstream", name, address)
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.upstreams[id]
	if u == nil {
		u = &Upstream{g: g, id: id, name: name}
		g.upstreams[id] = u
	}
	return u
}

// OnBreaker sets the function that gets reports about the circuit breakers of other nodes for this server. It must not block.
func (u *Upstream) OnBreaker(hear func(Report)) {
	if u == nil {
		return
	}
	u.g.mu.Lock()
	defer u.g.mu.Unlock()
	u.hear = hear
}

// breakerValue is the value of the key breaker.ID.
type breakerValue struct {
	Open     bool   `json:"open"`
	Upstream string `json:"upstream"` // its name, for people who read the bus
	Code     string `json:"code,omitempty"`
	Failures int    `json:"failures,omitempty"`
}

// Opened tells the others that this node's own calls have opened the circuit breaker.
func (u *Upstream) Opened(code string, failures int) {
	if u != nil {
		u.g.publish(keyBreaker+u.id.String(), breakerValue{Open: true, Upstream: u.name, Code: code, Failures: failures})
	}
}

// Closed tells the others that the server answers this node again.
func (u *Upstream) Closed() {
	if u != nil {
		u.g.publish(keyBreaker+u.id.String(), breakerValue{Upstream: u.name})
	}
}

// Refuted notes that a report has delayed calls of this node, and that the server then answered. Further reports about the server are
// ignored for a while.
func (u *Upstream) Refuted(delay time.Duration) {
	if u != nil {
		u.g.refute(u.id, delay)
	}
}

// Confirmed notes that a call of this node failed too.
func (u *Upstream) Confirmed() {
	if u != nil {
		u.g.confirm(u.id)
	}
}

// publish sends a value to the other nodes.
func (g *Group) publish(key string, value any) {
	data, err := json.Marshal(value)
	if err != nil || len(data) > MaxValue {
		return // cannot happen: the values have only short texts
	}
	g.o.Bus.Publish(key, data)
}

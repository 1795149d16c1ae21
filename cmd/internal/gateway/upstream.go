package gateway

import (
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// Upstream is one server behind the gateway, with its options and the state learned about it. It is safe for concurrent use and
// shared by all connections to that server.
type Upstream struct {
	Options  Options
	Tools    ToolCache // tools of HTTP callers
	Breaker  *Breaker  // of an HTTP server; each stdio connection has another
	breakers breakers  // all of them
	repeats  repeats
	budget   budget
	clients  clientTable
	Secrets  atomic.Pointer[SecretFilter] // secrets that the server was started with; nil if there are none

	name atomic.Pointer[string] // see Name

	tally     tally
	latencies latencies
	processes processes
	server    atomic.Pointer[ServerInfo] // nil before the server has described itself

	ending atomic.Bool   // no further calls are admitted
	calls  atomic.Uint64 // number of calls so far
	open   atomic.Int64  // number of calls that have not ended
	late   atomic.Uint64 // answers to calls that had ended
}

var native = dialect.Must("candor")

// New returns an upstream with the given options.
func New(o Options) *Upstream {
	o.fill()
	o.Breaker.Off = o.Breaker.Off || o.Mode == ModeObserve // observe mode lets every call through
	u := &Upstream{Options: o, repeats: newRepeats(o.Repeats), budget: budget{tokens: maxTokens}}
	u.Breaker = u.NewBreaker()
	u.name.Store(&o.Name)
	u.nameLogger()
	return u
}

// Drain lets open calls finish and refuses new ones with GATEWAY_DRAINING. It cannot be undone.
func (u *Upstream) Drain() { u.ending.Store(true) }

// Calls returns the number of calls that clients have made, including refused ones.
func (u *Upstream) Calls() uint64 { return u.calls.Load() }

// Open returns the number of calls that have not ended.
func (u *Upstream) Open() int { return int(u.open.Load()) }

// Late returns the number of answers that arrived after their call had ended and were dropped.
func (u *Upstream) Late() uint64 { return u.late.Load() }

// CountLate counts an answer that arrived after its call had ended.
func (u *Upstream) CountLate() { u.late.Add(1) }

// Timeout returns the timeout for calls of a tool; 0 means no limit.
func (u *Upstream) Timeout(tool string) time.Duration {
	limit, ok := u.Options.Timeouts[tool]
	if !ok {
		limit = u.Options.Timeout
	}
	return max(limit, 0)
}

// MaxBytes returns the maximum size of one message.
func (u *Upstream) MaxBytes() int {
	if u.Options.Limits.Message.MaxBytes > 0 {
		return u.Options.Limits.Message.MaxBytes
	}
	return wire.DefaultMaxBytes
}

package gateway

import (
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// Upstream is one server behind the gateway: how it is treated, and what was learnt of it. It is safe for concurrent use, and
// shared by all connections to that server.
type Upstream struct {
	Options    Options
	Tools      ToolCache // tools of HTTP callers
	compiles   compiler
	Breaker    *Breaker // of an HTTP server; stdio connections have separate ones
	repeats    repeats
	budget     budget
	settled    settledFailures
	tolerances tolerances
	Secrets    atomic.Pointer[SecretFilter] // over the secrets that the server was started with; nil if it has none

	ending atomic.Bool   // no call is admitted any more
	calls  atomic.Uint64 // that were made so far
	open   atomic.Int64  // number of calls that have not ended
	late   atomic.Uint64 // answers to calls that had ended
}

var native = dialect.Must("candor")

// New returns an upstream that is treated as the options say.
func New(o Options) *Upstream {
	o.fill()
	o.Breaker.Off = o.Breaker.Off || o.Mode == ModeObserve // which lets every call through
	u := &Upstream{Options: o, repeats: newRepeats(o.Repeats), budget: newBudget(o.Retry)}
	u.Breaker = NewBreaker(&u.Options)
	return u
}

// Name returns the name it was given.
func (u *Upstream) Name() string { return u.Options.Name }

// Drain lets open calls finish and refuses new ones with GATEWAY_DRAINING. It cannot be undone.
func (u *Upstream) Drain() { u.ending.Store(true) }

// Calls returns how many calls clients have made so far, refused ones included.
func (u *Upstream) Calls() uint64 { return u.calls.Load() }

// Open returns how many of them have no end yet.
func (u *Upstream) Open() int { return int(u.open.Load()) }

// Late returns how many answers came after their call had ended, and were dropped.
func (u *Upstream) Late() uint64 { return u.late.Load() }

// CountLate counts an answer that came after its call had ended.
func (u *Upstream) CountLate() { u.late.Add(1) }

// Timeout returns the timeout of calls of a tool; 0 is unlimited.
func (u *Upstream) Timeout(tool string) time.Duration {
	limit, ok := u.Options.Timeouts[tool]
	if !ok {
		limit = u.Options.Timeout
	}
	return max(limit, 0)
}

// MaxBytes is what one message may take.
func (u *Upstream) MaxBytes() int {
	if u.Options.Limits.Message.MaxBytes > 0 {
		return u.Options.Limits.Message.MaxBytes
	}
	return wire.DefaultMaxBytes
}

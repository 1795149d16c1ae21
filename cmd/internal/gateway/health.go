package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// Health describes an upstream and the calls to it since the gateway started. The member names are part of the format of /status and
// of the admin API.
type Health struct {
	Server  ServerInfo    `json:"server"`
	Breaker BreakerStatus `json:"breaker"`
	Process *Processes    `json:"process,omitempty"` // nil unless the gateway starts the server
	Open    int           `json:"open"`              // calls that have not ended
	Counts
	FailureShare   float64      `json:"failureShare"`   // calls that failed, without those that the client cancelled
	MaskedShare    float64      `json:"maskedShare"`    // calls with a failure that looked like a success
	SuspectedShare float64      `json:"suspectedShare"` // calls with a success that looks like a failure
	Recent         RecentCalls  `json:"recent"`
	LastSuccess    *time.Time   `json:"lastSuccess,omitempty"`
	LastFailure    *LastFailure `json:"lastFailure,omitempty"`
}

// Counts has the numbers of an upstream that only grow.
type Counts struct {
	Calls         uint64 `json:"calls"`         // requests of clients, including refused ones
	Failures      uint64 `json:"failures"`      // recorded failures that are not only suspected
	FailedCalls   uint64 `json:"failedCalls"`   // calls that failed, without those that the client cancelled
	Masked        uint64 `json:"masked"`        // failures that looked like a success
	Suspected     uint64 `json:"suspected"`     // successes that look like a failure
	Unrecorded    uint64 `json:"unrecorded"`    // failures that the ledger could not record
	WastedRetries uint64 `json:"wastedRetries"` // calls that repeated a failed call against its retry advice, and failed again or were refused
	Late          uint64 `json:"late"`          // answers that came after their call had ended
}

// plus returns the sums of two counts.
func (c Counts) plus(d Counts) Counts {
	return Counts{
		c.Calls + d.Calls, c.Failures + d.Failures, c.FailedCalls + d.FailedCalls, c.Masked + d.Masked, c.Suspected + d.Suspected,
		c.Unrecorded + d.Unrecorded, c.WastedRetries + d.WastedRetries, c.Late + d.Late,
	}
}

// LastFailure is the newest failure of an upstream that is not only suspected, and not only the consequence of earlier ones.
type LastFailure struct {
	Time time.Time `json:"time"`
	Code string    `json:"code"`
	Ref  string    `json:"ref"`
	Tool string    `json:"tool,omitempty"`
}

// tally counts the outcomes of calls. The zero value is ready to use.
type tally struct {
	lastSuccess                                     atomic.Int64 // nanoseconds since 1970; 0 means never
	lastFailure                                     atomic.Pointer[LastFailure]
	failures, failed, masked, suspected, unrecorded atomic.Uint64
}

func (u *Upstream) counts() Counts {
	t := &u.tally
	return Counts{
		Calls: u.calls.Load(), Failures: t.failures.Load(), FailedCalls: t.failed.Load(), Masked: t.masked.Load(), Suspected: t.suspected.Load(),
		Unrecorded: t.unrecorded.Load(), WastedRetries: u.repeats.wasted.Load(), Late: u.late.Load(),
	}
}

// Health returns the state of the upstream.
func (u *Upstream) Health() Health { return HealthOf(u) }

// HealthOf returns the common state of several upstreams that serve the same server with different settings, the newest first.
func HealthOf(all ...*Upstream) (h Health) {
	success := int64(0)
	for _, u := range all {
		h.Counts = h.Counts.plus(u.counts())
		h.Open += u.Open()
		if info := u.server.Load(); info != nil && h.Server == (ServerInfo{}) {
			h.Server = *info
		}
		success = max(success, u.tally.lastSuccess.Load())
		if f := u.tally.lastFailure.Load(); f != nil && (h.LastFailure == nil || f.Time.After(h.LastFailure.Time)) {
			h.LastFailure = f
		}
		h.Process = h.Process.plus(u.processes.snapshot())
	}
	if success != 0 {
		at := time.Unix(0, success).UTC()
		h.LastSuccess = &at
	}
	if h.Calls > 0 {
		share := func(n uint64) float64 { return min(1, float64(n)/float64(h.Calls)) }
		h.FailureShare, h.MaskedShare, h.SuspectedShare = share(h.FailedCalls), share(h.Masked), share(h.Suspected)
	}
	if len(all) > 0 {
		now := all[0].Options.Now()
		h.Breaker, h.Recent = breakerStatus(now, all), recent(now, all)
	}
	return h
}

// noteSuccess counts a call that the server answered at that time without a failure.
func (c *Call) noteSuccess(at time.Time) {
	c.up.tally.lastSuccess.Store(at.UnixNano())
	if c.admitted && c.IsTool() {
		c.up.latencies.observe(at, at.Sub(c.began), false)
	}
}

// noteFailure counts a failure after the ledger was asked to record it. Attempts that are repeated do not count.
func (c *Call) noteFailure(f *failure, recorded bool) {
	if f.Retried {
		return
	}
	t, now := &c.up.tally, c.up.Options.Now()
	cancelled := f.Error.Code() == candor.CodeCancelled && f.Error.Origin().By == candor.PartyClient
	switch {
	case !recorded:
		t.unrecorded.Add(1)
	case f.Suspected:
		t.suspected.Add(1)
	default:
		t.failures.Add(1)
		if f.Verdict == string(contract.VerdictMasked) {
			t.masked.Add(1)
		}
	}
	if c.opened && !f.Suspected && !cancelled {
		t.failed.Add(1)
	}
	if !f.Suspected && !cancelled && !isOurRefusal(f.Error) {
		t.lastFailure.Store(&LastFailure{Time: now.UTC(), Code: f.Error.Code().String(), Ref: f.Error.Ref(), Tool: candor.Public(c.tool, maxMethod)})
	}
	if c.admitted && c.IsTool() && !cancelled {
		c.up.latencies.observe(now, now.Sub(c.began), !f.Suspected)
	}
}

// Processes describes the processes that the gateway has started for an upstream.
type Processes struct {
	Running  int          `json:"running"`
	Starts   uint64       `json:"starts"`             // including restarts
	Restarts uint64       `json:"restarts"`           // after the process ended without being asked to
	Exits    uint64       `json:"exits"`              // of processes that were not asked to end
	LastExit *ProcessExit `json:"lastExit,omitempty"` // the newest of Exits
}

// ProcessExit describes how a process ended.
type ProcessExit struct {
	Time   time.Time `json:"time"`
	Status string    `json:"status"` // such as "exited with code 1"
	Code   int       `json:"code"`   // 128 plus the number of the signal, if one ended the process
	Signal string    `json:"signal,omitempty"`
}

// processes guards [Processes].
type processes struct {
	mu  sync.Mutex
	now *Processes // guarded by mu; nil before the first start
}

// ProcessStarted notes that a process was started for the upstream. Again means that it replaces one that had ended.
func (u *Upstream) ProcessStarted(again bool) {
	p := &u.processes
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		p.now = &Processes{}
	}
	p.now.Running++
	p.now.Starts++
	if again {
		p.now.Restarts++
	}
}

// ProcessEnded notes that a started process has ended. The exit is nil if the process was asked to end; otherwise its time is set.
func (u *Upstream) ProcessEnded(exit *ProcessExit) {
	p := &u.processes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Running--
	if exit != nil {
		exit.Time = u.Options.Now().UTC()
		p.now.Exits++
		p.now.LastExit = exit
	}
}

func (p *processes) snapshot() *Processes {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return nil
	}
	s := *p.now
	return &s
}

// plus returns the sums of both. Either may be nil.
func (p *Processes) plus(q *Processes) *Processes {
	switch {
	case q == nil:
		return p
	case p == nil:
		return q
	}
	last := p.LastExit
	if last == nil || q.LastExit != nil && q.LastExit.Time.After(last.Time) {
		last = q.LastExit
	}
	return &Processes{Running: p.Running + q.Running, Starts: p.Starts + q.Starts, Restarts: p.Restarts + q.Restarts, Exits: p.Exits + q.Exits, LastExit: last}
}

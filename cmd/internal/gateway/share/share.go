// Package share lets gateways that serve the same servers tell each other what they have found out: that a call keeps failing, that the
// circuit breaker of a server has opened, and which codes they know.
//
// What another node reports is a reason to refuse calls for a short, fixed time, and nothing more: this node then tries the call itself,
// and believes the result. So a node that lies, or one whose network is broken, delays others but cannot stop them. Decision 032 has the
// rules and the bounds.
//
// No call waits for another node. Reports are sent in the background, and without a connection each node decides alone.
package share

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Bus carries values between nodes. Its methods are safe for concurrent use.
type Bus interface {
	// Publish sends a value of this node to the others. It returns at once, even if the network is stalled: values wait in a bounded queue
	// from which the oldest are dropped.
	Publish(key string, value []byte)
	// Listen starts to pass the values of other nodes to receive, also those that were published shortly before. It calls connected after each
	// connection, when values can be sent. Listen is called once, and does not wait for a connection.
	Listen(receive func(Value), connected func())
	// Status returns the state of the connection.
	Status() BusStatus
	Close() error
}

// Engines open buses, by URL scheme.
type Engines map[string]func(address string, o OpenOptions) (Bus, error)

// OpenOptions is what an engine gets from the program.
type OpenOptions struct {
	Getenv func(string) string
	Log    *slog.Logger
}

// Value is what another node has published. Only Node can be relied on, if the bus lets each node publish under its own name only.
type Value struct {
	Node string
	Key  string
	Data []byte
	Age  time.Duration // since it was published; 0 for a new one
}

// BusStatus describes the connection of a [Bus]. The member names are part of the format of /status.
type BusStatus struct {
	Connected bool   `json:"connected"`
	Problem   string `json:"problem,omitempty"` // why it is not connected, or works only in part
	Sent      uint64 `json:"sent"`
	Received  uint64 `json:"received"`
	Dropped   uint64 `json:"dropped"` // values that were not sent
}

// Limits on what nodes send, and on what is kept of it.
const (
	MaxKey   = 128  // bytes of a key
	MaxValue = 4096 // bytes of a value

	maxReports        = 8192 // of all nodes about failing calls; further ones are ignored
	maxReportsPerNode = 256
	maxNodes          = 256 // whose version is kept
	maxRefuted        = 1024
	reportTTL         = time.Minute      // reports are forgotten this long after they were published
	nodeTTL           = 15 * time.Minute // nodes are forgotten if they say nothing for this long
)

// Options configures a [Group].
type Options struct {
	Bus Bus
	// Key is a secret of all nodes. Digests of sessions and arguments are made with it, so that who reads the bus cannot guess them. It may
	// be empty.
	Key     string
	Version string // of this program
	Now     func() time.Time
	Log     *slog.Logger
}

// Group is this node's view of what the other nodes report. All methods of a nil Group do nothing.
type Group struct {
	o    Options
	stop chan struct{}
	wait sync.WaitGroup

	sessions atomic.Int64 // sessions with reports by this or other nodes; without any, calls pass without locking mu

	mu        sync.Mutex
	upstreams map[ID]*Upstream           // guarded by mu
	failing   map[ID]map[ID]*failing     // guarded by mu; by session and call
	perNode   map[string]int             // guarded by mu; entries of failing by node
	reports   int                        // guarded by mu; entries of failing
	refuted   map[ID]*refutation         // guarded by mu; by upstream and by session
	nodes     map[string]*NodeStatus     // guarded by mu
	unknown   map[string]*CodeDefinition // guarded by mu; codes that servers sent and this program does not know
	defined   map[string]time.Time       // guarded by mu; when the definition of a code was last published by any node
	ignored   uint64                     // guarded by mu; values that were invalid or exceeded a limit
}

// ID is a digest that nodes can compare without knowing what it was made of.
type ID [16]byte

// New returns a group that listens to the bus. [Group.Close] closes the bus.
func New(o Options) *Group {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Group{
		o: o, stop: make(chan struct{}), upstreams: map[ID]*Upstream{}, failing: map[ID]map[ID]*failing{}, perNode: map[string]int{},
		refuted: map[ID]*refutation{}, nodes: map[string]*NodeStatus{}, unknown: map[string]*CodeDefinition{}, defined: map[string]time.Time{},
	}
	o.Bus.Listen(g.receive, g.publishCatalogue)
	g.publishCatalogue()
	g.wait.Go(g.keepUp)
	return g
}

// Close ends the group and its bus.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	close(g.stop)
	g.wait.Wait()
	return g.o.Bus.Close()
}

// housekeeping is the interval in which old reports are removed.
const housekeeping = 30 * time.Second

// keepUp forgets old reports, and repeats what other nodes must not forget.
func (g *Group) keepUp() {
	tick := time.NewTicker(housekeeping)
	defer tick.Stop()
	for i := 1; ; i++ {
		select {
		case <-g.stop:
			return
		case <-tick.C:
		}
		g.expire()
		if i%int(nodeTTL/housekeeping/3) == 0 {
			g.publishCatalogue()
		}
	}
}

// expire removes what is too old to count.
func (g *Group) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	for session, calls := range g.failing {
		for call, f := range calls {
			if now.Sub(f.at) > reportTTL {
				g.removeFailing(session, call)
			}
		}
	}
	for name, n := range g.nodes {
		if now.Sub(n.Seen) > nodeTTL {
			delete(g.nodes, name)
		}
	}
	for code, at := range g.defined {
		if now.Sub(at) > nodeTTL {
			delete(g.defined, code)
		}
	}
}

// id returns the digest of some parts.
func (g *Group) id(parts ...string) ID {
	h := hmac.New(sha256.New, []byte(g.o.Key))
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return ID(h.Sum(nil)[:len(ID{})])
}

// String returns the digest in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText returns [ID.String].
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(id)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(id[:], text)
	return err
}

// refutation says how often reports about something turned out to be wrong here.
type refutation struct {
	times int
	until time.Time // reports are ignored until then
}

const (
	quietTrials = 6         // after a wrong report, others are ignored for this many times the delay that it has caused
	maxQuiet    = time.Hour // the time doubles with each wrong report, up to this
)

// refute notes that a report about id was wrong: this node was delayed, then tried, and the server answered.
func (g *Group) refute(id ID, delay time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	r := g.refuted[id]
	if r == nil {
		g.makeSpaceForRefutation()
		r = &refutation{}
		g.refuted[id] = r
	}
	quiet := min(maxQuiet, quietTrials*delay<<min(r.times, 10))
	r.times++
	r.until = now.Add(quiet)
}

// makeSpaceForRefutation drops the refutation that ends first if there are too many. The lock must be held.
func (g *Group) makeSpaceForRefutation() {
	if len(g.refuted) < maxRefuted {
		return
	}
	var first ID
	var at time.Time
	for id, r := range g.refuted {
		if at.IsZero() || r.until.Before(at) {
			first, at = id, r.until
		}
	}
	delete(g.refuted, first)
}

// confirm notes that a report about id was right.
func (g *Group) confirm(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.refuted, id)
}

// isQuiet reports whether reports about id are ignored. The lock must be held.
func (g *Group) isQuiet(id ID) bool {
	r := g.refuted[id]
	return r != nil && g.o.Now().Before(r.until)
}

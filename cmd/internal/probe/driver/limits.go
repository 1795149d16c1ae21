package driver

import (
	"cmp"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
)

// The defaults of [Options].
const (
	defaultDeadline = 10 * time.Second
	defaultQuiet    = 1500 * time.Millisecond
	defaultStartup  = 60 * time.Second
	defaultRestarts = 50
)

// The limits for a hostile server.
const (
	maxMessage  = mcpclient.MaxBytes // of one line, event or body
	maxPages    = 100                // of tools/list
	maxTools    = 2000
	maxAnswered = 200 // requests of the server that are answered in one connection
	maxHangs    = 3   // hanging cases of one tool, after which its other cases are skipped
	maxTries    = 5   // attempts to reconnect over the network
	pingWait    = 5 * time.Second
	streamEnds  = 200 * time.Millisecond // after its answer
	triesApart  = 400 * time.Millisecond
	cancelAfter = 100 * time.Millisecond // so that the call has arrived before it is cancelled
	onItsWay    = 250 * time.Millisecond // an answer that comes so soon after the cancellation was sent before it
	longCall    = 600 * time.Millisecond // minimum duration of a cancelled call, so that its answer was not sent before
	surelyLong  = 3 * longCall           // minimum duration if it was not measured often enough, to rule out a busy machine
	measures    = 3
	longWait    = 5 * time.Second // for the answer to a cancelled call
)

// The limits of an observation.
const (
	keptResponse  = 1 << 20
	keptText      = 64 << 10 // bytes of each text in an answer longer than keptResponse
	keptRequest   = 64 << 10
	keptStderr    = 4 << 10
	keptNoise     = 20  // lines
	keptNoiseLine = 512 // bytes of each
)

func (o *Options) fill() {
	o.Deadline = cmp.Or(max(o.Deadline, 0), defaultDeadline)
	o.Quiet = cmp.Or(max(o.Quiet, 0), defaultQuiet)
	o.Startup = cmp.Or(max(o.Startup, 0), defaultStartup)
	o.MaxRestarts = cmp.Or(max(o.MaxRestarts, 0), defaultRestarts)
}

// Package drive puts an MCP server through the cases of an audit: it starts or calls the server, makes the calls one after the other,
// and returns what was seen as a [probe.Run].
//
// The rules of the room:
//
//   - Nothing is judged here. What came is kept as it came, bounded, and what did not come is kept as an outcome.
//   - The server is hostile: every wait has an end, every answer a size, every restart is counted.
//   - Nothing is left behind: no process, no folder, no connection.
//   - Nothing is random but by the seed. Cases are made in the order given, ids count up.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// Target is the server: a command to start or an address to call, one of both.
type Target struct {
	Command []string // of a server on standard input and output
	Dir     string   // its working folder; "" is a fresh one, removed at the end
	Env     []string // NAME=value, in addition to PATH, LANG and the scratch folders, or in place of them; secrets are kept out of the run as those of Headers are

	URL       string            // of a server over HTTP
	Transport Transport         // "" is [TransportAuto]
	Headers   map[string]string // sent with every request; what they hold is kept out of the run if their names say that it is secret
}

// Transport is how a server is called over HTTP.
type Transport string

// The transports.
const (
	TransportAuto Transport = "auto" // what the server speaks, the newest first
	TransportHTTP Transport = "http" // streamable HTTP, of both eras
	TransportSSE  Transport = "sse"  // the event stream with an endpoint of 2024-11-05
)

// Options say how a server is driven. The zero value is safe, and makes no call for want of Cases.
type Options struct {
	// Cases returns what is to be done to the server, in order, and what is left out. It decides what is safe; drive looks once more.
	// Nil makes none: the run then only holds who the server is and which tools it lists.
	Cases func(server probe.Server, tools []probe.Tool) ([]probe.Case, []probe.Skip)

	Seed     uint64        // noted in the run; Cases draws from it
	Deadline time.Duration // of a call; zero is 10 s
	Quiet    time.Duration // how long silence is listened to where it is allowed; zero is 1.5 s
	Startup  time.Duration // until initialize is answered; zero is 60 s
	Total    time.Duration // of the whole run; zero is no bound

	MaxCalls    int // zero is no bound
	MaxRestarts int // of a server that died or hung; zero is 50

	Allow []string // tools that may be called for real though they do not say that they are read-only
	Yes   bool     // all of them may

	// Guard is the command line that runs [Guard], without its arguments. With it nothing that the server has started outlives us, even if
	// we are killed. Without it, and outside of Linux, that holds for the server alone, and for the rest only if we live to see to it.
	Guard []string

	Upstream Upstream // the fake service behind the server; nil is none, and cases with a fault are skipped

	Resume   *probe.Run                         // observations of it are not made again; nil begins anew
	Progress func(done, total int, what string) // told before each case and at the end; nil tells nobody
	Save     func(*probe.Run)                   // given the run now and then, and at the end; it must not keep or change it
}

// Upstream is a service that the server believes to be the real one.
type Upstream interface {
	// Begin has it answer with the fault until End; "" is what it does without one.
	Begin(fault string)
	// End returns how many requests have come since Begin.
	End() (hits int)
	// Environ is what the server's environment needs in order to find it, as NAME=value.
	Environ() []string
	// Wrap returns the command line that runs the given one where the upstream is.
	Wrap(command []string) []string
}

// Drive puts the server through the cases.
//
// The error says why nothing could be done, and what to do about it: the command does not start, nobody listens, initialize is not
// answered before ctx or the time for the whole run ended. Once the server has said who it is, there is a run. If it ends early, because
// ctx is cancelled, a bound is reached, or the server does not come back, or if the server does not list the tools that it says it has,
// the run says so in Incomplete, and the error is nil.
func Drive(ctx context.Context, t Target, o Options) (*probe.Run, error) {
	o.fill()
	if err := check(t, &o); err != nil {
		return nil, err
	}
	all := ctx
	if o.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Total)
		defer cancel()
	}
	d := &driver{t: t, o: o, used: ids{}, hangs: map[string]int{}, ran: map[string]string{}, run: &probe.Run{Version: probe.RunVersion, Begun: time.Now().UTC(), Seed: o.Seed}}
	defer d.leave(true)
	if err := d.begin(ctx); err != nil {
		const early = "it was stopped before the server had said who it is"
		switch {
		case ctx.Err() == nil:
			return nil, err
		case o.Resume != nil: // what was known is still known
			*d.run = *o.Resume
			d.run.Incomplete = early
			return d.run, nil
		case all.Err() == nil:
			return nil, fmt.Errorf("the time for the whole run was up: %v; %w", o.Total, err)
		default:
			return nil, errors.New(early)
		}
	}
	cases, skipped := d.plan()
	d.run.Skipped = append(d.run.Skipped, skipped...)
	old := d.old()
	done, incomplete := d.all(ctx, cases, old)
	for i := range cases[done:] { // what was known and not reached again is still known
		d.run.Observations = append(d.run.Observations, old[cases[done+i].Key()]...)
	}
	d.run.Incomplete = cmp.Or(incomplete, d.unseen)
	if ctx.Err() != nil && all.Err() == nil {
		d.run.Incomplete = fmt.Sprintf("the time for the whole run was up: %v", o.Total)
	}
	d.leave(true)
	d.save()
	return d.run, nil
}

// check refuses what cannot be done before anything is started.
func check(t Target, o *Options) error {
	switch {
	case len(t.Command) == 0 && t.URL == "":
		return errors.New("there is no server to drive (hint: give a command or an address)")
	case len(t.Command) > 0 && t.URL != "":
		return errors.New("there are two servers to drive (hint: give a command or an address, not both)")
	case !slices.Contains([]Transport{"", TransportAuto, TransportHTTP, TransportSSE}, t.Transport):
		return fmt.Errorf("there is no transport %q (hint: one of auto, http, sse)", t.Transport)
	case o.Resume != nil && o.Resume.Version != probe.RunVersion:
		return fmt.Errorf("the run to go on with has version %d, and this program writes version %d (hint: begin anew)", o.Resume.Version, probe.RunVersion)
	case o.Resume != nil && o.Resume.Seed != o.Seed:
		return fmt.Errorf("the run to go on with has seed %d, and this one has %d (hint: give the same seed, or begin anew)", o.Resume.Seed, o.Seed)
	}
	return nil
}

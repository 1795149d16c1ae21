// Package driver runs the cases of an audit: it starts or connects to an MCP server, makes the calls one after the other, and returns the
// observations as a [probe.Run].
//
//   - It judges nothing. Answers are kept as received, bounded in size; a missing answer is an outcome.
//   - The server may be hostile: every wait has a time limit, every answer a size limit, and restarts are counted.
//   - No process, folder or connection is left behind.
//   - Only the seed is random. Cases run in the given order, and ids count up.
package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/candor-mcp/candor/internal/probe"
)

// Target is the server: either a command to start or a URL.
type Target struct {
	Command []string // command line of a server over stdio
	Dir     string   // working folder; "" is a temporary one
	Env     []string // NAME=value, added to PATH, LANG and the scratch folders; secrets are hidden in the run

	URL       string            // of a server over HTTP
	Transport Transport         // "" is [TransportAuto]
	Headers   map[string]string // sent with every request; values of headers with a secret-looking name are hidden in the run
}

// Transport is the transport to a server over HTTP.
type Transport string

// The transports.
const (
	TransportAuto Transport = "auto" // the newest transport that the server supports
	TransportHTTP Transport = "http" // streamable HTTP, with and without sessions
	TransportSSE  Transport = "sse"  // the event stream with an endpoint of 2024-11-05
)

// Options configures a run. The zero value makes no calls, because it has no Cases.
type Options struct {
	// Cases returns the cases in order, and the omitted ones. It decides which calls are safe; drive checks them again.
	// If it is nil, the run only has the server and its tools.
	Cases func(server probe.Server, tools []probe.Tool) ([]probe.Case, []probe.Skip)

	Seed     uint64        // recorded in the run; used by Cases
	Deadline time.Duration // of a call; zero is 10 s
	Quiet    time.Duration // how long to wait for an answer that is not required; zero is 1.5 s
	Startup  time.Duration // time limit for initialize; zero is 60 s
	Total    time.Duration // time limit for the whole run; zero is none

	MaxCalls    int // zero is no limit
	MaxRestarts int // restarts after a crash or a hang; zero is 50

	Allow []string // tools that may be called with valid arguments although they are not declared read-only
	Yes   bool     // allow all tools

	// Guard is the command line that runs [guard.Main], without its arguments. With it no process of the server outlives this program, even if
	// this program is killed. Without it, or not on Linux, that holds only for the server itself, and only if this program is not killed.
	Guard []string

	Upstream Upstream // fake service behind the server; if nil, cases with a fault are skipped

	Progress func(done, total int, what string) // called before each case and at the end; may be nil
}

// Upstream is a fake of the service behind the server.
type Upstream interface {
	// Begin makes it answer with the fault until End; "" is its normal behaviour.
	Begin(fault string)
	// End returns the number of requests since Begin.
	End() (hits int)
	// Environ returns the environment variables that the server needs to reach it, as NAME=value.
	Environ() []string
	// Wrap returns a command line that runs the given one in the network of the upstream.
	Wrap(command []string) []string
}

// Drive runs the cases on a server.
//
// It fails if no case could be run: the command does not start, the server cannot be reached, or it does not answer initialize in time. Once
// the server has answered initialize, Drive returns a run and no error. If the run ends early, because ctx is cancelled, a limit is reached
// or the server does not come back, or if the server does not list its tools, Incomplete of the run has the reason.
func Drive(ctx context.Context, t Target, o Options) (*probe.Run, error) {
	o.fill()
	if err := check(t); err != nil {
		return nil, err
	}
	all := ctx
	if o.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Total)
		defer cancel()
	}
	d := &driver{t: t, o: o, used: ids{}, hangs: map[string]int{}, ran: map[string]string{}, run: &probe.Run{Version: probe.RunVersion, Begun: time.Now().UTC(), Seed: o.Seed}}
	defer d.disconnect(true)
	if err := d.begin(ctx); err != nil {
		const early = "stopped before the server answered the handshake"
		switch {
		case ctx.Err() == nil:
			return nil, err
		case all.Err() == nil:
			return nil, fmt.Errorf("the time limit for the whole run, %v, was reached: %w", o.Total, err)
		default:
			return nil, errors.New(early)
		}
	}
	var cases []probe.Case
	if o.Cases != nil {
		var skipped []probe.Skip
		cases, skipped = o.Cases(d.run.Server, d.run.Tools)
		d.run.Skipped = append(d.run.Skipped, skipped...)
	}
	d.run.Incomplete = cmp.Or(d.all(ctx, cases), d.unseen)
	if ctx.Err() != nil && all.Err() == nil {
		d.run.Incomplete = fmt.Sprintf("the time limit for the whole run, %v, was reached", o.Total)
	}
	d.disconnect(true)
	return d.run, nil
}

// check validates the target.
func check(t Target) error {
	switch {
	case len(t.Command) == 0 && t.URL == "":
		return errors.New("no server given (hint: give a command or --url)")
	case len(t.Command) > 0 && t.URL != "":
		return errors.New("both a command and a URL given (hint: give only one)")
	case !slices.Contains([]Transport{"", TransportAuto, TransportHTTP, TransportSSE}, t.Transport):
		return fmt.Errorf("unknown transport %q (hint: use auto, http or sse)", t.Transport)
	}
	return nil
}

package fake

import (
	"context"
	"errors"
)

// Options say how an upstream is made. The zero value is ready to use.
type Options struct {
	// Inside is the start of the command line that calls [InsideMain]; nil is this program with the command probe-inside.
	Inside []string
}

// Upstream is a fake upstream. Its methods may be called by several goroutines.
type Upstream struct{}

// Available returns nil where an upstream can be started, and otherwise why not, with what to do about it.
func Available() error { return errors.New("not built yet") }

// Start makes an upstream. The caller closes it.
func Start(_ context.Context, _ Options) (*Upstream, error) { return nil, Available() }

// Begin has every server answered with the fault until End; "" is an upstream that is well and has nothing to say.
func (u *Upstream) Begin(_ string) {}

// End returns how many requests, and refused connections, have come since Begin.
func (u *Upstream) End() int { return 0 }

// Last returns what [Upstream.End] counted, in parts.
func (u *Upstream) Last() Count { return Count{} }

// Environ is what a server's environment needs.
func (u *Upstream) Environ() []string { return nil }

// Wrap returns the command line that runs the given one where the upstream is.
func (u *Upstream) Wrap(command []string) []string { return command }

// Close ends it, and every server that still runs in it.
func (u *Upstream) Close() error { return nil }

// InsideMain is the hidden command probe-inside: see [Upstream.Wrap].
func InsideMain(_ []string) error { return Available() }

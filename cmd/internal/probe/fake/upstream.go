package fake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// How long an upstream waits for its other half.
const (
	settleWait = 5 * time.Second  // until a fault is answered everywhere
	trialWait  = 20 * time.Second // until the trial of [Start] is over
)

// Options say how an upstream is made. The zero value is ready to use.
type Options struct {
	// Inside is the start of the command line that calls [InsideMain]; nil is this program with the command probe-inside.
	Inside []string
	// Local are ports on the loopback where it listens besides 80 and 443; see [LocalPorts].
	Local []Port
}

// Upstream is a fake upstream. Its methods may be called by several goroutines, but only one fault is set at a time.
//
// It has two halves: this one, and one inside the namespace of each server that was started with [Upstream.Wrap]. The halves talk over a
// socket, see [link].
type Upstream struct {
	inside    []string
	local     []Port
	place     place
	authority *authority
	gate      net.Listener
	readers   sync.WaitGroup
	shut      func() error // close, once

	mu      sync.Mutex
	turned  *sync.Cond         // told whenever a half has settled or gone
	halves  map[*half]struct{} // guarded by mu
	window  int                // guarded by mu; the number of the last Begin or End
	fault   string             // guarded by mu
	counted int                // guarded by mu; the window whose events count, none after End
	counts  map[string]int     // guarded by mu; events since Begin
	last    Count              // guarded by mu
	closed  bool               // guarded by mu
	forget  func() bool        // guarded by mu; ends the watch over the context
}

// none is no window.
const none = -1

// half is the other half of an upstream, in the namespace of one server.
type half struct {
	link    *link
	settled int // the window whose fault it answers with; guarded by Upstream.mu
}

// Start makes an upstream, and tries it: an error says why none can be had here, and what to do about it. The caller closes it; so does
// the end of ctx.
func Start(ctx context.Context, o Options) (*Upstream, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if o.Inside == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		o.Inside = []string{self, "probe-inside"}
	}
	u, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := u.try(ctx); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget = context.AfterFunc(ctx, func() { _ = u.Close() })
	return u, nil
}

// open makes the outer half.
func open(ctx context.Context, o Options) (*Upstream, error) {
	u := &Upstream{inside: o.Inside, local: o.Local, counted: none, halves: map[*half]struct{}{}, counts: map[string]int{}}
	u.turned = sync.NewCond(&u.mu)
	u.shut = sync.OnceValue(u.close)
	var err error
	if u.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if u.place, err = newPlace(u.authority); err != nil {
		return nil, err
	}
	if u.gate, err = (&net.ListenConfig{}).Listen(ctx, "unix", u.place.socket()); err != nil {
		return nil, errors.Join(fmt.Errorf("listening for servers: %w (hint: set TMPDIR to a short path)", err), u.place.remove())
	}
	u.readers.Go(u.admit)
	return u, nil
}

// try starts a namespace with no server in it.
func (u *Upstream) try(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, trialWait)
	defer stop()
	line := u.Wrap(nil)
	trial := exec.CommandContext(ctx, line[0], line[1:]...)
	trial.Env, trial.WaitDelay = append(os.Environ(), u.Environ()...), time.Second
	if said, err := trial.CombinedOutput(); err != nil {
		return fmt.Errorf("the fake upstream does not work here: %w: %s", err, strings.TrimSpace(bounded(string(said))))
	}
	return nil
}

// Begin has every server answered with the fault until End, whether it runs already or starts later; "" is an upstream that is well and
// answers {} to everything. It returns when the fault is in force. An unknown fault is answered like "".
func (u *Upstream) Begin(fault string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.counts)
	u.counted = u.window + 1
	u.turn(fault)
}

// End ends the fault and returns how many have met it since Begin: requests, or, while nothing listens, refused connections. Who is refused
// at a port where the upstream never listens has met no other fault than [Down]; [Upstream.Last] tells of it. Whatever is counted is
// counted before the server can know the answer, so after the server's reply nothing is missing.
func (u *Upstream) End() (hits int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fault := u.fault
	u.turn("")
	u.counted = none
	u.last = Count{Requests: u.counts[sawRequest], Refused: u.counts[sawRefused], Lookups: u.counts[sawLookup], Untrusted: u.counts[sawUntrusted]}
	clear(u.counts)
	if fault == Down {
		return u.last.Refused
	}
	return u.last.Requests
}

// Last returns what [Upstream.End] counted last, in parts.
func (u *Upstream) Last() Count {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

// turn sets a fault and waits until it is in force. u.mu is held.
func (u *Upstream) turn(fault string) {
	u.window++
	u.fault = fault
	for h := range u.halves {
		h.link.send(order(u.window, fault))
	}
	late := false
	clock := time.AfterFunc(settleWait, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		late = true
		u.turned.Broadcast()
	})
	defer clock.Stop()
	for !late && !u.quiet() {
		u.turned.Wait()
	}
}

func (u *Upstream) quiet() bool {
	for h := range u.halves {
		if h.settled < u.window {
			return false
		}
	}
	return true
}

// admit takes the other halves as they come, until the gate is closed.
func (u *Upstream) admit() {
	for {
		conn, err := u.gate.Accept()
		if err != nil {
			return
		}
		h := &half{link: newLink(conn), settled: none - 1}
		u.mu.Lock()
		if u.closed || len(u.halves) >= maxHalves {
			u.mu.Unlock()
			_ = conn.Close()
			continue
		}
		u.halves[h] = struct{}{}
		h.link.send(u.authority.line())
		for _, p := range u.local {
			h.link.send(p.line())
		}
		h.link.send(order(u.window, u.fault))
		u.mu.Unlock()
		u.readers.Go(func() { u.listen(h) })
	}
}

// listen counts what a half sees until it is gone.
func (u *Upstream) listen(h *half) {
	defer func() {
		_ = h.link.Close()
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.halves, h)
		u.turned.Broadcast()
	}()
	for {
		word, rest, err := h.link.receive()
		if err != nil {
			return
		}
		u.mu.Lock()
		if word == sawSettled {
			h.settled = number(rest)
			u.turned.Broadcast()
		} else if h.settled == u.counted { // in End, a half that has not settled yet is still in the window
			u.counts[word]++
		}
		u.mu.Unlock()
	}
}

// Wrap returns the command line that runs the given one in a namespace of its own, with the upstream and nothing else in reach. It ends when
// the command ends, with its status (128 and the number for one that a signal has ended), and takes along whatever the command has started.
// Nothing of it outlives the upstream.
func (u *Upstream) Wrap(command []string) []string {
	line := append([]string{}, u.inside...)
	return append(append(line, string(u.place), "--"), command...)
}

// Close ends it, and every server that still runs in it. It returns when that is done, whoever has begun it.
func (u *Upstream) Close() error { return u.shut() }

func (u *Upstream) close() error {
	u.mu.Lock()
	u.closed = true
	if u.forget != nil {
		u.forget()
	}
	err := u.gate.Close()
	for h := range u.halves {
		_ = h.link.Close() // the half sees it, and ends
	}
	u.mu.Unlock()
	u.readers.Wait()
	return errors.Join(err, u.place.remove())
}

// place is the folder where the two halves meet.
type place string

// newPlace makes the folder. Its inner folder control is out of sight for servers.
func newPlace(a *authority) (place, error) {
	dir, err := os.MkdirTemp("", "candor-fake-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the fake upstream: %w (hint: free some space, or set TMPDIR)", err)
	}
	p := place(dir)
	err = os.Mkdir(p.control(), 0o700)
	for name, text := range map[string]string{"ca.pem": a.pem(), "resolv.conf": "nameserver 127.0.0.1\n",
		"hosts": "127.0.0.1 localhost\n::1 localhost\n", "nsswitch.conf": nsswitch(), "empty": ""} {
		if err == nil {
			err = os.WriteFile(p.file(name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("filling the folder of the fake upstream: %w (hint: free some space, or set TMPDIR)", err), p.remove())
	}
	return p, nil
}

// nsswitch returns the machine's own with nothing but files and DNS for hosts: other services look names up outside the namespace.
func nsswitch() string {
	text, _ := os.ReadFile("/etc/nsswitch.conf") // there need not be one
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "hosts:") {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(append(kept, "hosts: files dns"), "\n") + "\n"
}

func (p place) file(name string) string { return filepath.Join(string(p), name) }
func (p place) control() string         { return p.file("control") }
func (p place) socket() string          { return filepath.Join(p.control(), "s") }
func (p place) remove() error           { return os.RemoveAll(string(p)) }

package fakeupstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How long an upstream waits for its inner halves.
const (
	settleWait = 5 * time.Second  // until all halves have set a fault
	trialWait  = 20 * time.Second // until the trial of [Start] is over
)

// Options configures an upstream.
type Options struct {
	// Inside is the command line that calls [InsideMain], without its arguments.
	Inside []string
}

// Upstream is a fake upstream. Its methods may be called by several goroutines, but only one fault is set at a time.
//
// It is the outer half. The namespace of each server that was started with [Upstream.Wrap] has an inner half. They
// communicate over a socket; see [link].
type Upstream struct {
	inside    []string
	sharedDir sharedDir
	authority *authority
	gate      net.Listener
	readers   sync.WaitGroup
	shut      func() error // close, once

	mu      sync.Mutex
	turned  *sync.Cond         // signalled when a half has set its fault or ended
	halves  map[*half]struct{} // guarded by mu
	window  int                // guarded by mu; the number of the last Begin or End
	fault   string             // guarded by mu
	counted int                // guarded by mu; the window whose events count; none after End
	counts  map[string]int     // guarded by mu; events since Begin
	closed  bool               // guarded by mu
	forget  func() bool        // guarded by mu; stops waiting for the context
}

// none marks that no window is counted.
const none = -1

// half is an inner half, in the namespace of one server.
type half struct {
	link    *link
	settled int // the window of its current fault; guarded by Upstream.mu
}

// Start creates and tests an upstream. The error explains why it does not work on this system and suggests a remedy.
// The caller closes the upstream; the end of ctx closes it as well.
func Start(ctx context.Context, o Options) (*Upstream, error) {
	if err := Available(); err != nil {
		return nil, err
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

// open creates the outer half.
func open(ctx context.Context, o Options) (*Upstream, error) {
	u := &Upstream{inside: o.Inside, counted: none, halves: map[*half]struct{}{}, counts: map[string]int{}}
	u.turned = sync.NewCond(&u.mu)
	u.shut = sync.OnceValue(u.close)
	var err error
	if u.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if u.sharedDir, err = newSharedDir(u.authority); err != nil {
		return nil, err
	}
	if u.gate, err = (&net.ListenConfig{}).Listen(ctx, "unix", u.sharedDir.socket()); err != nil {
		return nil, errors.Join(fmt.Errorf("listening for servers: %w (hint: set TMPDIR to a short path)", err), u.sharedDir.remove())
	}
	u.readers.Go(u.admit)
	return u, nil
}

// try starts a namespace without a server.
func (u *Upstream) try(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, trialWait)
	defer stop()
	line := u.Wrap(nil)
	trial := exec.CommandContext(ctx, line[0], line[1:]...)
	trial.Env, trial.WaitDelay = append(os.Environ(), u.Environ()...), time.Second
	if said, err := trial.CombinedOutput(); err != nil {
		return fmt.Errorf("the fake upstream cannot run here: %w: %s", err, strings.TrimSpace(bounded(string(said))))
	}
	return nil
}

// Begin sets the fault for all servers until End, also for those that start later; "" is an upstream that works and
// answers {} to every request. It returns when the fault is set. An unknown fault is the same as "".
func (u *Upstream) Begin(fault string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.counts)
	u.counted = u.window + 1
	u.turn(fault)
}

// End ends the fault and returns how many requests met it since Begin; for [Down] these are refused connections.
// Connections to ports where the upstream never listens count only for [Down]. Events are counted before the server
// gets its answer, so none is missing after the server's reply.
func (u *Upstream) End() (hits int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fault := u.fault
	u.turn("")
	u.counted = none
	defer clear(u.counts)
	if fault == Down {
		return u.counts[sawRefused]
	}
	return u.counts[sawRequest]
}

// turn sets a fault and waits until all halves have it. The caller holds u.mu.
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

// admit accepts inner halves until the listener is closed.
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
		h.link.send(order(u.window, u.fault))
		u.mu.Unlock()
		u.readers.Go(func() { u.listen(h) })
	}
}

// listen counts the events of a half until it ends.
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
			if n, err := strconv.Atoi(rest); err == nil {
				h.settled = n
			}
			u.turned.Broadcast()
		} else if h.settled == u.counted { // during End, a half that has not settled yet is still in the window
			u.counts[word]++
		}
		u.mu.Unlock()
	}
}

// Wrap returns a command line that runs the given one in a separate namespace, where only the upstream can be reached.
// It exits with the status of the command (128 plus the signal if a signal ended it) and ends all processes that the
// command started. None of them outlives the upstream.
func (u *Upstream) Wrap(command []string) []string {
	return slices.Concat(u.inside, []string{string(u.sharedDir), "--"}, command)
}

// Close ends the upstream and all servers in it, and waits for them. It may be called several times.
func (u *Upstream) Close() error { return u.shut() }

func (u *Upstream) close() error {
	u.mu.Lock()
	u.closed = true
	if u.forget != nil {
		u.forget()
	}
	err := u.gate.Close()
	for h := range u.halves {
		_ = h.link.Close() // this ends the half
	}
	u.mu.Unlock()
	u.readers.Wait()
	return errors.Join(err, u.sharedDir.remove())
}

// sharedDir is the folder that the halves share.
type sharedDir string

// newSharedDir creates the folder. Servers cannot see its subfolder control.
func newSharedDir(a *authority) (sharedDir, error) {
	dir, err := os.MkdirTemp("", "candor-fake-")
	if err != nil {
		return "", fmt.Errorf("creating a folder for the fake upstream: %w (hint: free disk space, or set TMPDIR)", err)
	}
	p := sharedDir(dir)
	err = os.Mkdir(p.control(), 0o700)
	for name, text := range map[string]string{"ca.pem": a.pem(), "resolv.conf": "nameserver 127.0.0.1\n",
		"hosts": "127.0.0.1 localhost\n::1 localhost\n", "nsswitch.conf": nsswitch(), "empty": ""} {
		if err == nil {
			err = os.WriteFile(p.file(name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("writing the files of the fake upstream: %w (hint: free disk space, or set TMPDIR)", err), p.remove())
	}
	return p, nil
}

// nsswitch returns the nsswitch.conf of this machine with only files and DNS for hosts: other services resolve names outside the namespace.
func nsswitch() string {
	text, _ := os.ReadFile("/etc/nsswitch.conf") // it may not exist
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "hosts:") {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(append(kept, "hosts: files dns"), "\n") + "\n"
}

func (p sharedDir) file(name string) string { return filepath.Join(string(p), name) }
func (p sharedDir) control() string         { return p.file("control") }
func (p sharedDir) socket() string          { return filepath.Join(p.control(), "s") }
func (p sharedDir) remove() error           { return os.RemoveAll(string(p)) }

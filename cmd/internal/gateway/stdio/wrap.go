// Package stdio runs an MCP server as a child process and moves messages between its standard input and output and a client.
// [Wrap] serves one client on one stream; a [Host] serves clients of several connections, for package bridge. Package gateway
// decides about calls and answers.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// Exit describes how a wrapped session ended.
type Exit struct {
	// Code is the exit code for the process: 0 if the client hung up first or the context ended, otherwise the server's exit
	// code.
	Code   int
	HungUp bool   // the client ended the session
	Server Status // how the last server ended
}

// Wrap starts a server and forwards messages between it and a client until the server, the client or the context ends. Every
// request that it has read is answered once, unless the client cancels it or hangs up while it is open. When Wrap returns, the
// server and all processes that it has started have ended.
//
// A client that does not read its answers cannot prevent Wrap from returning: the remaining answers are then dropped. Wrap does
// not close the client's streams, except that the output of a blocking socket is shut down if the client does not read it. A read
// of client.In that cannot be interrupted continues in the background; its data is dropped.
//
// The error is a [*StartError] if the first start of the server failed. The first requests of the client are answered then too.
func Wrap(ctx context.Context, u *gateway.Upstream, client Streams, child Child) (Exit, error) {
	child.Fill()
	u.Secrets.Store(gateway.CommandSecrets(child.Env, child.Args))
	server, err := child.start()
	if err == nil {
		u.ProcessStarted(false)
	}
	out := interruptible(client.Out)
	defer out.release()
	w := &supervisor{up: u, ctx: ctx, child: child, out: out, client: newClientConn(ctx, u, out), hungUp: make(chan struct{}), over: make(chan struct{})}
	defer w.interrupter.Wait()
	defer close(w.over)
	leaving, stop := watchHangUp(client.In)
	defer stop()
	w.hangingUp = leaving
	in, done := pollable(client.In)
	go func() {
		defer close(w.hungUp)
		defer done()
		w.client.readClient(in)
	}()
	var exit Exit
	if err != nil {
		exit.Code = startCode(err)
		w.refuse(err, client.In)
	} else {
		exit = w.supervise(server)
	}
	w.beginEnd()
	Within(2*child.Grace, w.client.client.shut)
	Within(child.Grace, w.client.close)
	Within(child.Grace, w.endings.Wait)
	w.client.forget()
	w.reportUndelivered()
	if in, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = in.SetReadDeadline(time.Now()) // unblocks the reader, if the stream supports deadlines
	}
	return exit, err
}

// startCode returns the exit code that shells use for a command that cannot be started.
func startCode(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return 127
	}
	return 126
}

// supervisor runs one session of a client with one server, which is restarted as often as the policy allows.
type supervisor struct {
	up     *gateway.Upstream
	ctx    context.Context // context of the session
	child  Child
	client *clientConn
	out    interruptibleWriter // to the client; nil for a bridge, which has several clients
	hungUp chan struct{}       // closed when the client has hung up and all its input is read
	starts []time.Time         // start times of restarted servers, in the last minute

	hangingUp <-chan struct{} // closed when the client has hung up, even if some of its input is unread; may be nil
	ending    bool            // the session is about to end, see beginEnd
	over      chan struct{}   // closed when the session has ended

	interrupter sync.WaitGroup // runs interruptWrites
	interrupted atomic.Bool    // a write to the client was interrupted
	endings     sync.WaitGroup // ends calls that were open when a server ended
}

// supervise runs one server after another, and returns how the session ended.
func (w *supervisor) supervise(server *process) Exit {
	again := false
	for {
		died := w.serve(server, again)
		if !died || w.finished() {
			return Exit{HungUp: w.clientGone(), Server: server.status}
		}
		w.up.Options.Logger.ErrorContext(w.ctx, "the server ended", slog.String("status", server.status.String()))
		next := w.restart()
		if next == nil {
			w.linger(goneError(w.up, server))
			return Exit{Code: server.status.Code, Server: server.status}
		}
		server, again = next, true
	}
}

// serve moves messages until the server or the session ends, and reports whether the server ended first. When it returns, the
// server has ended.
func (w *supervisor) serve(server *process, again bool) (died bool) {
	l := w.client.newServerConn(newLineWriter(server.stdin, w.up.Timeout("")))
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		if err := l.read(server); err != nil {
			w.up.Options.Logger.ErrorContext(w.ctx, "reading from the server", slog.Any("error", err))
		}
	}()
	defer server.close()
	if err := w.replayHandshake(l, server, silent, again); err != nil {
		w.up.Options.Logger.ErrorContext(w.ctx, "the server cannot continue the session", slog.Any("error", err))
		server.kill()
		died = true
	} else {
		w.client.connect(l)
		died = w.watch(l, server, silent)
	}
	unasked := died && !w.finished()
	server.stop(w.child.Grace)
	w.noteEnd(server.status, unasked)
	if !died || w.finished() {
		w.beginEnd()
	}
	patience := w.child.Grace
	if w.ending {
		patience *= 2 // a blocked write to the client is interrupted within the first half
	}
	Within(patience, func() { <-silent })
	Within(outputDrainTimeout, func() { <-server.quiet })
	w.client.connect(nil)
	ended := make(chan struct{})
	w.endings.Go(func() {
		defer close(ended)
		w.endCalls(l, server, died)
	})
	Within(patience, func() { <-ended }) // a client that does not read may block it
	return died
}

// endCalls ends the calls that are still open, with an error that names the side that ended the session.
func (w *supervisor) endCalls(l *serverConn, server *process, died bool) {
	switch {
	case died:
		l.end(goneError(w.up, server))
	case w.out != nil && w.clientGone():
		l.abandon()
	default:
		l.end(gateway.DrainingError())
	}
}

// lastWriteTimeout bounds one write to a client after the context has ended.
const lastWriteTimeout = time.Second

// beginEnd begins the end of the session. From then on, a write to the client that takes too long is interrupted, and all later
// writes fail.
func (w *supervisor) beginEnd() {
	if w.ending || w.out == nil {
		return
	}
	w.ending = true
	patience := w.child.Grace
	if w.ctx.Err() != nil {
		patience = min(patience, lastWriteTimeout)
	}
	w.interrupter.Go(func() { w.interruptWrites(patience) })
}

// interruptWrites interrupts a write to the client that takes longer than patience. It returns when the session has ended.
func (w *supervisor) interruptWrites(patience time.Duration) {
	tick := time.NewTicker(patience/20 + 1)
	defer tick.Stop()
	writes, since := w.client.client.writes.Load(), time.Now()
	for {
		select {
		case <-w.over:
			return
		case <-tick.C:
		}
		switch {
		case !w.client.client.blockedSince(writes):
			writes, since = w.client.client.writes.Load(), time.Now()
		case time.Since(since) > patience:
			w.interrupted.Store(true)
			w.out.interrupt()
			return
		}
	}
}

// reportUndelivered logs that answers were dropped because the client did not read them.
func (w *supervisor) reportUndelivered() {
	if w.interrupted.Load() {
		w.up.Options.Logger.WarnContext(w.ctx, "the client did not read its last answers",
			slog.Int64("messages", w.client.client.undelivered()))
	}
}

// replayHandshake replays the handshake to a restarted server.
func (w *supervisor) replayHandshake(l *serverConn, server *process, silent <-chan struct{}, again bool) error {
	if !again {
		return nil
	}
	w.client.tools.Forget()
	ctx, cancel := w.untilEnd(server, silent)
	defer cancel(nil)
	same, err := w.client.handshake.replay(ctx, l)
	if err == nil && !same {
		w.up.Options.Logger.WarnContext(w.ctx, "the restarted server does not offer the same as before")
	}
	return err
}

// untilEnd returns a context that ends when the server, its output or the session ends.
func (w *supervisor) untilEnd(server *process, silent <-chan struct{}) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-server.done:
			cancel(errEarlyEnd)
		case <-silent:
			cancel(errEarlyEnd)
		case <-w.hungUp:
			cancel(errSessionEnded)
		case <-w.client.client.broken:
			cancel(errSessionEnded)
		}
	}()
	return ctx, cancel
}

// watch waits for the end of a session, and reports whether the server caused it.
func (w *supervisor) watch(l *serverConn, server *process, silent <-chan struct{}) (died bool) {
	select {
	case <-w.ctx.Done():
		return false
	case <-w.client.client.broken:
		return false
	case <-w.hungUp:
		return w.drain(l, server)
	case <-w.hangingUp:
		if ended, died := w.awaitReader(server); ended {
			return died
		}
		return w.drain(l, server)
	case <-l.server.broken: // the server closed its input, or has not read it for as long as a call may take
		if errors.Is(l.server.failure(), os.ErrDeadlineExceeded) {
			w.up.Options.Logger.ErrorContext(w.ctx, "the server does not read its input")
			server.kill()
		}
		return true
	case <-silent: // the server closed its output, so no request can be answered
		return true
	case <-server.done:
		return true
	}
}

// awaitReader waits until all input is read that the client sent before it hung up. Ended reports whether the session ended
// first, for example because the reader is blocked on writing an answer that the client does not read.
func (w *supervisor) awaitReader(server *process) (ended, died bool) {
	for {
		writes := w.client.client.writes.Load()
		select {
		case <-w.hungUp:
			return false, false
		case <-server.done:
			return true, true
		case <-w.client.client.broken:
			return true, false
		case <-w.ctx.Done():
			return true, false
		case <-time.After(w.child.Drain):
			if w.client.client.blockedSince(writes) {
				return true, false
			}
		}
	}
}

// drain waits for open calls after the client has hung up, and reports whether the server ended.
func (w *supervisor) drain(l *serverConn, server *process) (died bool) {
	select {
	case <-l.drained():
	case <-server.done:
		return true
	case <-w.client.client.broken:
	case <-w.ctx.Done():
	case <-time.After(w.child.Drain):
	}
	return false
}

// restart starts another server after a pause. It returns nil if the policy does not allow it or the session ends first.
func (w *supervisor) restart() *process {
	policy := w.child.Restart
	for {
		now := time.Now()
		for len(w.starts) > 0 && now.Sub(w.starts[0]) > time.Minute {
			w.starts = w.starts[1:]
		}
		if len(w.starts) >= policy.Tries {
			return nil
		}
		pause := min(policy.Wait<<min(len(w.starts), 20), policy.MaxWait)
		if !w.pause(pause + rand.N(pause/4+1)) { //nolint:gosec // chance only spreads the tries
			return nil
		}
		w.starts = append(w.starts, time.Now())
		server, err := w.child.start()
		if err == nil {
			w.up.ProcessStarted(true)
			w.up.Options.Logger.WarnContext(w.ctx, "the server was started again", slog.Int("try", len(w.starts)))
			return server
		}
		w.up.Options.Logger.ErrorContext(w.ctx, "the server could not be started again", slog.Any("error", err))
	}
}

// noteEnd notes how a server ended. Unasked means that the session was not over before.
func (w *supervisor) noteEnd(s Status, unasked bool) {
	if unasked {
		w.up.ProcessEnded(&gateway.ProcessExit{Status: s.String(), Code: s.Code, Signal: s.Signal})
		return
	}
	w.up.ProcessEnded(nil)
}

// pause waits, and returns false if the session ended in the meantime.
func (w *supervisor) pause(d time.Duration) bool {
	select {
	case <-w.ctx.Done():
	case <-w.hungUp:
	case <-w.client.client.broken:
	case <-time.After(d):
		return true
	}
	return false
}

const (
	lingerQuiet = 250 * time.Millisecond
	lingerTimes = 12
)

// linger answers requests that the client sent before it could notice the end of the server. It returns when no more arrive, or
// after a short time.
func (w *supervisor) linger(e *candor.Error) {
	w.client.finish(goneBefore(e))
	w.awaitQuiet()
}

// awaitQuiet waits until no more requests arrive, but only for a short time.
func (w *supervisor) awaitQuiet() {
	for range lingerTimes {
		heard := w.client.received.Load()
		if !w.pause(lingerQuiet) || w.client.received.Load() == heard {
			return
		}
	}
}

// refuse answers the first requests of a client if its server could not be started. Many clients show an answer to initialize, but
// not the exit code and standard error. It does not wait for a person, who reads the error that the command prints.
func (w *supervisor) refuse(err error, in io.Reader) {
	w.client.finish(unstartable(err))
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return
		}
	}
	for range lingerTimes {
		if !w.pause(lingerQuiet) || w.client.received.Load() > 0 {
			break
		}
	}
	w.awaitQuiet()
}

// unstartable returns the error for calls to a server that could not be started.
func unstartable(err error) *candor.Error {
	message := "The server could not be started."
	if start, ok := errors.AsType[*StartError](err); ok {
		cause := start.Err
		if path, ok := errors.AsType[*fs.PathError](cause); ok {
			cause = path.Err
		}
		message = fmt.Sprintf("The server could not be started: %s: %v.", filepath.Base(start.Command), cause)
	}
	return gateway.NewError(candor.CodeUpstreamUnreachable, "effect", "none").With(candor.WithMessage(message), candor.WithRetry(candor.Retry{}),
		candor.WithSuggestion("Ask the user to correct the command of this server in the client's configuration; candor doctor shows what is wrong."))
}

// finished reports whether the session is over, in any state of the server.
func (w *supervisor) finished() bool {
	select {
	case <-w.ctx.Done():
		return true
	default:
		return w.clientGone()
	}
}

func (w *supervisor) clientGone() bool {
	select {
	case <-w.hungUp:
		return true
	case <-w.client.client.broken:
		return true
	default:
		return false
	}
}

// goneError returns the error for calls that were open when their server ended.
func goneError(u *gateway.Upstream, server *process) *candor.Error {
	details := map[string]any{"status": server.status.String()}
	if server.status.Signal != "" {
		details["signal"] = server.status.Signal
	} else {
		details["exitCode"] = server.status.Code
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyGateway, false)}
	tail, shown := server.stderr.text(), ""
	switch {
	case tail == "":
	case u.Options.Mode == gateway.ModeStrict:
		options = append(options, candor.WithCauseText(candor.Cause{Message: tail})) // for the ledger
	default:
		shown = withoutFrames(tail)
		details["stderr"] = shown
	}
	return candor.New(candor.CodeUpstreamGone, gateway.EndedText(server.status.String(), "during the call", shown), append(options, candor.WithDetails(details))...)
}

// goneBefore returns the error for calls that arrived after the end of the server. They were not forwarded and had no effect, and
// no later call on this connection will be served.
func goneBefore(e *candor.Error) *candor.Error {
	return e.With(candor.WithMessage("The server had already ended when the call arrived."),
		candor.WithDetails(e.Details().With("effect", "none")),
		candor.WithSuggestion("The call had no effect. Ask the operator to restart the server, then make a new call."))
}

// Within waits for f, but no longer than d.
func Within(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
	}
}

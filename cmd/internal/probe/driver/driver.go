package driver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
)

// driver is one run. It is used only by the goroutine that called [Drive].
type driver struct {
	t   Target
	o   Options
	run *probe.Run

	conn      mcpclient.Conn // nil while there is no connection
	child     *child         // the server, if it was started
	gone      error          // why the server cannot be reached again
	transport Transport
	stateless bool   // there is no session, and every request names the client
	ping      string // method that checks that the server is alive
	mask      *mask
	answered  int // answered requests of the server in this connection

	id      int // of the last request
	turns   int
	used    ids               // all ids that were sent
	calls   int               // made so far
	left    int               // cases after this one
	hangs   map[string]int    // cases that hung, by tool
	ran     map[string]string // the first sign that a tool ran a call that it had to refuse, by tool
	headers atomic.Pointer[map[string][]headerParam]
	lax     bool   // a tool ran without its required arguments
	unseen  string // why the tools could not be listed
}

// all runs the cases. It returns why it stopped early, "" if it did not.
func (d *driver) all(ctx context.Context, cases []probe.Case) (incomplete string) {
	for i := range cases {
		c := &cases[i]
		d.left = len(cases) - i - 1
		if ctx.Err() != nil {
			return stopped(i, len(cases))
		}
		d.progress(i, len(cases), c.Key())
		if reason := d.refuse(c); reason != "" {
			d.run.Skipped = append(d.run.Skipped, probe.Skip{Tool: c.Tool, What: c.Key(), Reason: reason})
			continue
		}
		if d.o.MaxCalls > 0 && d.calls >= d.o.MaxCalls {
			return fmt.Sprintf("the limit of %d calls was reached with %d of %d cases left", d.o.MaxCalls, len(cases)-i, len(cases))
		}
		if err := d.ensureConnected(ctx); err != nil && ctx.Err() == nil {
			return fmt.Sprintf("%d of %d cases are left: %v", len(cases)-i, len(cases), err)
		}
		if ctx.Err() != nil {
			return stopped(i, len(cases))
		}
		d.calls++
		seen, alive := d.observe(ctx, c)
		if ctx.Err() != nil {
			return stopped(i, len(cases)) // an aborted call shows nothing
		}
		d.note(seen)
		if !alive {
			d.disconnect(false)
		}
	}
	d.progress(len(cases), len(cases), "")
	return ""
}

// note adds observations to the run.
func (d *driver) note(seen []probe.Observation) {
	d.run.Observations = append(d.run.Observations, seen...)
	if c := &seen[0].Case; seen[0].Outcome == probe.OutcomeHang && c.Tool != "" {
		d.hangs[c.Tool]++
	}
	d.watch(&seen[0])
}

func stopped(done, total int) string {
	return fmt.Sprintf("stopped after %d of %d cases", done, total)
}

// ensureConnected connects to the server if there is no connection.
func (d *driver) ensureConnected(ctx context.Context) error {
	if d.conn != nil || d.gone != nil {
		return d.gone
	}
	if d.run.Restarts >= d.o.MaxRestarts {
		return fmt.Errorf("the server was restarted %d times, which is the limit", d.run.Restarts)
	}
	d.run.Restarts++
	return d.reconnect(ctx)
}

// disconnect ends the connection.
func (d *driver) disconnect(patient bool) {
	if d.conn != nil {
		d.conn.Close(patient)
		d.conn, d.child = nil, nil
	}
}

// request builds the next request.
func (d *driver) request(method string, params []byte) (id string, message []byte) {
	d.id++
	id = fmt.Sprint(d.id)
	d.used[id] = true
	return id, mcpclient.Request(id, method, string(params))
}

// clientName is the name of the client in a handshake.
const clientName = "candor-probe"

// addMeta adds the members of _meta that a protocol version without sessions requires. Params that are not an object stay unchanged.
func (d *driver) addMeta(params []byte) []byte {
	if !d.stateless {
		return params
	}
	return mcpclient.AddMeta(params, clientName)
}

// ask makes a request and waits for its answer.
func (d *driver) ask(ctx context.Context, method string, params []byte, patience time.Duration, before *seen) (message []byte, s *seen) {
	id, message := d.request(method, d.addMeta(params))
	return message, d.converse(ctx, &turn{messages: [][]byte{message}, wanted: ids{id: true}, need: 1, patience: patience, before: before})
}

// notify sends a notification.
func (d *driver) notify(ctx context.Context, message string) {
	ctx, cancel := context.WithTimeout(ctx, pingWait)
	defer cancel()
	d.turns++
	done := d.sendAll(ctx, d.turns, &turn{messages: [][]byte{[]byte(message)}})
	for {
		select {
		case <-done:
			return
		case _, open := <-d.conn.Messages(): // drop it, so that the server can read
			if !open {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (d *driver) progress(done, total int, what string) {
	if d.o.Progress != nil {
		d.o.Progress(done, total, what)
	}
}

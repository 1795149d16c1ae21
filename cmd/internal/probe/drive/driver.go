package drive

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// driver is one run. All of it belongs to the goroutine that called [Drive].
type driver struct {
	t   Target
	o   Options
	run *probe.Run

	link      link  // nil while there is none
	gone      error // why there will be none again
	transport Transport
	stateless bool   // every request says who asks, and there is no session
	ping      string // the method that shows that the server is alive
	mask      *mask
	obliged   int // requests of the server that were answered in this connection

	id     int // of the last request
	turns  int
	used   ids               // every id that was ever sent
	calls  int               // that were made
	left   int               // cases behind this one
	hangs  map[string]int    // cases that hung, by tool
	ran    map[string]string // the first sign that a tool ran that had to refuse, by tool
	lax    bool              // a tool ran without its required arguments
	unseen string            // why there are tools that could not be listed
	saved  time.Time
	fresh  int // cases since the run was saved
}

// all makes the cases. It returns how many are done, and why it ended early, if it did.
func (d *driver) all(ctx context.Context, cases []probe.Case, old map[string][]probe.Observation) (done int, incomplete string) {
	for i := range cases {
		c := &cases[i]
		d.left = len(cases) - i - 1
		if ctx.Err() != nil {
			return i, stopped(i, len(cases))
		}
		d.tell(i, len(cases), c.Key())
		if reason := d.refuse(c); reason != "" {
			d.run.Skipped = append(d.run.Skipped, probe.Skip{Tool: c.Tool, What: c.Key(), Reason: reason})
			continue
		}
		if known, ok := old[c.Key()]; ok {
			d.note(known)
			continue
		}
		if d.o.MaxCalls > 0 && d.calls >= d.o.MaxCalls {
			return i, fmt.Sprintf("%d calls were allowed, and %d of %d cases are left", d.o.MaxCalls, len(cases)-i, len(cases))
		}
		if err := d.ready(ctx); err != nil && ctx.Err() == nil {
			return i, fmt.Sprintf("%d of %d cases are left: %v", len(cases)-i, len(cases), err)
		}
		if ctx.Err() != nil {
			return i, stopped(i, len(cases))
		}
		d.calls++
		seen, alive := d.observe(ctx, c)
		if ctx.Err() != nil {
			return i, stopped(i, len(cases)) // what was seen of a call that we gave up says nothing
		}
		d.note(seen)
		if !alive {
			d.leave(false)
		}
		d.saveSometimes()
	}
	d.tell(len(cases), len(cases), "")
	return len(cases), ""
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
	return fmt.Sprintf("it was stopped after %d of %d cases", done, total)
}

// old returns the observations of the run to go on with, by the keys of their cases. What was seen right after a case goes with it.
func (d *driver) old() map[string][]probe.Observation {
	old := map[string][]probe.Observation{}
	if d.o.Resume == nil {
		return old
	}
	last := ""
	for _, o := range d.o.Resume.Observations {
		if !strings.HasSuffix(o.Case.Name, thenPing) {
			last = o.Case.Key()
		}
		old[last] = append(old[last], o)
	}
	return old
}

// ready sees to it that there is a server to call.
func (d *driver) ready(ctx context.Context) error {
	if d.link != nil || d.gone != nil {
		return d.gone
	}
	if d.run.Restarts >= d.o.MaxRestarts {
		return fmt.Errorf("the server was started again %d times, which is enough", d.run.Restarts)
	}
	d.run.Restarts++
	return d.again(ctx)
}

// leave ends the connection.
func (d *driver) leave(patient bool) {
	if d.link != nil {
		d.link.close(patient)
		d.link = nil
	}
}

// request writes the next request.
func (d *driver) request(method string, params []byte) (id string, message []byte) {
	d.id++
	id = fmt.Sprint(d.id)
	d.used[id] = true
	message = []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":`)
	message = wire.AppendString(message, method)
	if params != nil {
		message = append(append(message, `,"params":`...), params...)
	}
	return id, append(message, '}')
}

// The members of _meta by which a request says who asks, where there is no session to know it from.
var metaMembers = [][2]string{
	{"io.modelcontextprotocol/protocolVersion", `"` + versionStateless + `"`},
	{"io.modelcontextprotocol/clientInfo", clientInfo},
	{"io.modelcontextprotocol/clientCapabilities", `{}`},
}

const clientInfo = `{"name":"candor-probe","version":"1"}`

// sign adds what the era wants in the params of a request. Params that are no object stay as they are: that is what the case is about.
func (d *driver) sign(params []byte) []byte {
	if !d.stateless {
		return params
	}
	if params == nil {
		params = []byte(`{}`)
	}
	for _, member := range metaMembers {
		if signed, err := wire.SetMember(nil, params, []string{"_meta", member[0]}, []byte(member[1])); err == nil {
			params = signed
		}
	}
	return params
}

// ask makes a request of our own and waits for its answer.
func (d *driver) ask(ctx context.Context, method string, params []byte, patience time.Duration, before *seen) (message []byte, s *seen) {
	id, message := d.request(method, d.sign(params))
	return message, d.converse(ctx, &turn{messages: [][]byte{message}, wanted: ids{id: true}, need: 1, patience: patience, before: before})
}

// notify sends a notification, which nobody answers.
func (d *driver) notify(ctx context.Context, message string) {
	ctx, cancel := context.WithTimeout(ctx, pingWait)
	defer cancel()
	d.turns++
	done := d.hand(ctx, d.turns, &turn{messages: [][]byte{[]byte(message)}})
	for {
		select {
		case <-done:
			return
		case _, open := <-d.link.arrivals(): // nothing is due, and nothing may hold up the writing
			if !open {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (d *driver) tell(done, total int, what string) {
	if d.o.Progress != nil {
		d.o.Progress(done, total, what)
	}
}

func (d *driver) save() {
	if d.o.Save != nil {
		d.o.Save(d.run)
	}
	d.saved, d.fresh = time.Now(), 0
}

func (d *driver) saveSometimes() {
	if d.fresh++; d.fresh >= saveEvery || time.Since(d.saved) >= saveAfter {
		d.run.Incomplete = "it is still being made"
		d.save()
		d.run.Incomplete = ""
	}
}

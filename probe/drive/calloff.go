package drive

import (
	"bytes"
	"context"
	"time"

	"github.com/candor-mcp/candor/probe"
)

// callThenOff makes a call and calls it off. The server has kept on with it if an answer comes when it has read what came behind the
// cancellation, and long after: one that crosses the cancellation, or says that the call was called off, is nobody's fault. Only a call
// that takes long can show that. A shorter one would show it or not as the machine is quick or slow, so nothing is made of it.
func (d *driver) callThenOff(ctx context.Context, c *probe.Case, t *turn) (s *seen, kept bool) {
	takes := d.lasts(ctx, c)
	listen := func(patience time.Duration, messages ...[]byte) *seen {
		return d.converse(ctx, &turn{messages: messages, wanted: t.wanted, need: 1, patience: patience})
	}
	if s = listen(cancelAfter, t.messages[0]); s.end != endSilent {
		return s, false
	}
	d.notify(ctx, string(t.messages[1]))
	_, ping := d.ask(ctx, d.ping, nil, min(pingWait, d.o.Deadline), nil)
	if ping.end != endAnswered {
		s.end = ping.end
		return s, false
	}
	if crossed := listen(onItsWay); crossed.end != endSilent {
		return crossed, false
	}
	late := listen(min(takes, longWait) + d.o.Quiet)
	return late, late.end == endAnswered && (takes >= longCall || takes >= d.o.Deadline)
}

// lasts is how long the call of a case takes if nobody calls it off, at most the deadline. Where that is near the limit it is measured
// again: the least of several is what the server needs, and whatever is more is the machine's.
func (d *driver) lasts(ctx context.Context, c *probe.Case) time.Duration {
	takes := d.lasted(c)
	for range measures {
		if takes > 0 && (takes < longCall*3/4 || takes > longCall*3/2) {
			break
		}
		began := time.Now()
		once := d.o.Deadline
		if _, s := d.ask(ctx, c.Method, c.Params, d.o.Deadline, nil); s.end == endAnswered {
			once = min(once, max(time.Since(began), 1))
		}
		if takes == 0 || once < takes {
			takes = once
		}
	}
	return takes
}

// lasted is how long the same call took when it was made before, 0 if it was not.
func (d *driver) lasted(c *probe.Case) time.Duration {
	for i := range d.run.Observations {
		o := &d.run.Observations[i]
		if o.Case.Tool != c.Tool || o.Case.Fault != "" || !bytes.Equal(o.Case.Params, c.Params) {
			continue
		}
		switch o.Outcome {
		case probe.OutcomeAnswered:
			return max(time.Duration(o.Millis)*time.Millisecond, 1)
		case probe.OutcomeHang:
			return d.o.Deadline
		case probe.OutcomeCrash, probe.OutcomeNoAnswer:
		}
	}
	return 0
}

package drive

import (
	"bytes"
	"context"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// callThenOff makes a call and calls it off. The server has kept on with it if an answer comes when it has read what came behind the
// cancellation, and long after: one that crosses the cancellation, or says that the call was called off, is nobody's fault. Only a call
// that takes long can show that. A shorter one would show it or not as the machine is quick or slow, so nothing is made of it.
func (d *driver) callThenOff(ctx context.Context, c *probe.Case, t *turn) (s *seen, kept bool) {
	takes, long := d.lasts(ctx, c)
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
	return late, late.end == endAnswered && long
}

// lasts is how long the call of a case takes if nobody calls it off, at most the deadline, and whether that is long. Unless it is short
// or hangs it is measured again: the least of several is what the server needs, and whatever is more is the machine's.
func (d *driver) lasts(ctx context.Context, c *probe.Case) (takes time.Duration, long bool) {
	takes, measured := d.lasted(c)
	for ; measured < measures && d.mayMeasure(c); measured++ {
		if measured > 0 && (takes < longCall*3/4 || takes >= d.o.Deadline) {
			break
		}
		d.calls++
		began := time.Now()
		once := d.o.Deadline
		if _, s := d.ask(ctx, c.Method, c.Params, d.o.Deadline, nil); s.end == endAnswered {
			once = min(once, time.Since(began))
		}
		if measured == 0 || once < takes {
			takes = once
		}
	}
	limit := longCall
	if measured < measures {
		limit = surelyLong
	}
	return takes, measured > 0 && takes >= min(limit, d.o.Deadline)
}

// mayMeasure reports that a call may be made once more only to see how long it takes: it changes nothing, and takes no room from the cases
// that are left.
func (d *driver) mayMeasure(c *probe.Case) bool {
	tool := d.run.Tool(c.Tool)
	return tool != nil && tool.IsReadOnly() && (d.o.MaxCalls <= 0 || d.calls+d.left < d.o.MaxCalls)
}

// lasted is the least that the same call took when it was made before, and how often it was.
func (d *driver) lasted(c *probe.Case) (least time.Duration, times int) {
	for i := range d.run.Observations {
		o := &d.run.Observations[i]
		if o.Case.Tool != c.Tool || o.Case.Fault != "" || !bytes.Equal(o.Case.Params, c.Params) {
			continue
		}
		took := d.o.Deadline
		switch o.Outcome {
		case probe.OutcomeAnswered:
			took = min(took, time.Duration(o.Millis)*time.Millisecond)
		case probe.OutcomeHang:
		case probe.OutcomeCrash, probe.OutcomeNoAnswer:
			continue
		}
		if times == 0 || took < least {
			least = took
		}
		times++
	}
	return least, times
}

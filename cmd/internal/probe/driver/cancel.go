package driver

import (
	"bytes"
	"context"
	"time"

	"github.com/candor-mcp/candor/internal/probe"
)

// cancelCall makes a call and cancels it. kept reports whether the server continued the call: an answer comes long after the server has read
// a message behind the cancellation. An answer that crosses the cancellation is correct. Only a long call can show this; for a shorter one
// the result would depend on the speed of the machine, so kept is false.
func (d *driver) cancelCall(ctx context.Context, c *probe.Case, t *turn) (s *seen, kept bool) {
	takes, long := d.measure(ctx, c)
	listen := func(patience time.Duration, messages ...[]byte) *seen {
		return d.converse(ctx, &turn{messages: messages, wanted: t.wanted, need: 1, patience: patience})
	}
	if s = listen(cancelAfter, t.messages[0]); s.end != endSilent {
		return s, false
	}
	d.notify(ctx, string(t.messages[1]))
	_, ping := d.ask(ctx, d.ping, nil, pingWait, nil)
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

// measure returns how long the call takes if it is not cancelled, at most the deadline, and whether that is long.
// Unless the call is short or hangs it is measured several times, and the minimum is used, to exclude the load of the
// machine.
func (d *driver) measure(ctx context.Context, c *probe.Case) (takes time.Duration, long bool) {
	takes, measured := d.measured(c)
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

// mayMeasure reports whether the call may be repeated to measure it: the tool is read-only, and enough calls are left for the other cases.
func (d *driver) mayMeasure(c *probe.Case) bool {
	tool := d.run.Tool(c.Tool)
	return tool != nil && tool.IsReadOnly() && (d.o.MaxCalls <= 0 || d.calls+d.left < d.o.MaxCalls)
}

// measured returns the minimum duration of the same call in earlier cases, and the number of those cases.
func (d *driver) measured(c *probe.Case) (least time.Duration, times int) {
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

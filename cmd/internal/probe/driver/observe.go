package driver

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
)

// pingSuffix is the suffix of the name of a ping after a case, as in the corpus of recorded servers.
const pingSuffix = "_then_ping"

// observe runs a case. It returns the observations, and whether the server can be called again. If it cannot, the
// second observation is that of the ping after the case.
func (d *driver) observe(ctx context.Context, c *probe.Case) (all []probe.Observation, alive bool) {
	if d.o.Upstream != nil {
		d.o.Upstream.Begin(faultOf(c))
	}
	began := time.Now()
	t := d.turn(c)
	s, kept := d.perform(ctx, c, t)
	o := probe.Observation{Case: withoutLarge(*c), Request: d.joined(t.messages), Millis: time.Since(began).Milliseconds(), Kept: kept}
	if d.o.Upstream != nil {
		o.Hits = d.o.Upstream.End()
	}
	if ctx.Err() != nil {
		return nil, false
	}
	alive = true
	switch {
	case s.end == endGone, s.end == endBroken:
		o.Outcome, alive = d.lost(ctx, s, &o)
	case s.end == endSilent && c.Expect != probe.ExpectSilence:
		o.Outcome = probe.OutcomeHang
		d.sendCancel(ctx, c)
	case s.end == endAnswered:
		o.Outcome = probe.OutcomeAnswered
	default:
		o.Outcome = probe.OutcomeNoAnswer
	}
	var after *probe.Observation
	if alive && d.needsPing(c, s) {
		before := s
		if o.Outcome == probe.OutcomeHang { // answers from now on are too late
			before = nil
		}
		after = d.stillAlive(ctx, c, before)
		if o.Outcome == probe.OutcomeNoAnswer && s.count > 0 { // the answer was late
			o.Outcome = probe.OutcomeAnswered
		}
	}
	d.fill(&o, s)
	if after == nil {
		return []probe.Observation{o}, alive
	}
	return []probe.Observation{o, *after}, false
}

// notFound is the fault of an upstream that does not have the requested object.
const notFound = "404"

// faultOf returns the fault of the fake upstream during a case. When the case asks for something that does not exist,
// the upstream answers 404, as any service would; otherwise the tool would succeed.
func faultOf(c *probe.Case) string {
	if c.Fault == "" && c.Name == probe.CaseNonexistent && c.Expect == probe.ExpectFailure {
		return notFound
	}
	return c.Fault
}

// perform makes the turn of a case. kept reports whether the server continued a cancelled call.
func (d *driver) perform(ctx context.Context, c *probe.Case, t *turn) (s *seen, kept bool) {
	if c.Name == probe.CaseCancel && c.Tool != "" && len(t.messages) == 2 && !d.conn.Exchanges() {
		return d.cancelCall(ctx, c, t)
	}
	return d.converse(ctx, t), false
}

// turn returns the messages of a case.
func (d *driver) turn(c *probe.Case) *turn {
	t := &turn{wanted: ids{}, need: 1, patience: d.o.Deadline}
	if c.Expect == probe.ExpectSilence && !d.conn.Exchanges() {
		t.patience = d.o.Quiet
	}
	if c.Raw != nil {
		t.messages = [][]byte{c.Raw}
		for _, id := range asked(c.Raw) {
			t.wanted[id], d.used[id] = true, true
		}
		t.need = max(1, len(t.wanted))
		return t
	}
	params := []byte(c.Params)
	if c.Name != probe.CaseToolsCallNoParams {
		params = d.addMeta(params)
	}
	id, message := d.request(c.Method, params)
	t.wanted[id], t.messages = true, [][]byte{message}
	switch {
	case c.Name == probe.CaseDuplicateID:
		d.id--
		_, second := d.request("tools/list", d.addMeta([]byte(`{}`)))
		t.messages, t.need = append(t.messages, second), 2
	case c.Name == probe.CaseCancel && !d.stateless: // without a session closing the request cancels it
		t.messages, t.apart = append(t.messages, cancelled(id)), cancelAfter
	}
	return t
}

// asked returns the ids of the requests in a raw message.
func asked(raw []byte) []string {
	var found []string
	for _, u := range unitsOf(raw) {
		if key := idKey(u.ID()); key != "" {
			found = append(found, key)
		}
	}
	return found
}

func cancelled(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"the client no longer waits"}}`)
}

func (d *driver) joined(messages [][]byte) string {
	text := ""
	for i, m := range messages {
		if i > 0 {
			text += "\n"
		}
		shown := d.mask.over(string(m))
		text += shorten([]byte(shown), int64(len(shown)), keptRequest)
	}
	return text
}

// lost returns the outcome of a case after which the connection is closed. A process has ended; over the network the
// server may still run, or may have ended and been restarted.
func (d *driver) lost(ctx context.Context, s *seen, o *probe.Observation) (outcome probe.Outcome, alive bool) {
	if d.transport == transportStdio {
		o.Exit = d.child.exitStatus()
		return probe.OutcomeCrash, false
	}
	if s.broken == "" {
		s.broken = "connection closed"
	}
	ended := d.ended(ctx)
	d.disconnect(false)
	if d.gone = d.reconnect(ctx); d.gone != nil {
		return probe.OutcomeCrash, false
	}
	if ended {
		d.run.Restarts++
		return probe.OutcomeCrash, true
	}
	return probe.OutcomeNoAnswer, true
}

// ended reports whether a server over streamable HTTP has ended: it cannot be reached, or does not know the session. A
// server without sessions that restarts at once is not noticed.
func (d *driver) ended(ctx context.Context) bool {
	w, ok := d.conn.(*mcpclient.HTTP)
	if !ok {
		return false
	}
	before := w.Session()
	_, s := d.ask(ctx, d.ping, nil, pingWait, nil)
	unknown := s.status >= http.StatusBadRequest && s.status < http.StatusInternalServerError && before != "" && !mcpclient.IsAnswer(s.raw)
	return s.end == endBroken || unknown || w.Session() != before
}

// sendCancel sends a cancellation, as a client would.
func (d *driver) sendCancel(ctx context.Context, c *probe.Case) {
	if c.Raw == nil && !d.stateless {
		d.notify(ctx, string(cancelled(strconv.Itoa(d.id))))
	}
}

// needsPing reports whether to ping the server after a case. Over stdio that is cheap and attributes a crash to the
// right case; over HTTP it is done only for some cases.
func (d *driver) needsPing(c *probe.Case, s *seen) bool {
	return d.transport != TransportHTTP || s.end != endAnswered || c.Name == probe.CaseValid || c.Name == probe.CaseNoArgsValid || c.Group == probe.GroupProtocol || c.Group == probe.GroupLiveness
}

// stillAlive pings the server, and returns an observation if it does not answer. Late answers to the case are added to the case.
func (d *driver) stillAlive(ctx context.Context, c *probe.Case, before *seen) *probe.Observation {
	began := time.Now()
	message, s := d.ask(ctx, d.ping, nil, pingWait, before)
	if ctx.Err() != nil || s.end == endAnswered && (s.status < http.StatusInternalServerError || mcpclient.IsAnswer(s.raw)) {
		return nil
	}
	after := *c
	after.Name, after.Method, after.Params, after.Raw, after.Expect = c.Name+pingSuffix, d.ping, nil, nil, probe.ExpectAnswer
	o := &probe.Observation{Case: after, Request: string(message), Millis: time.Since(began).Milliseconds(), Outcome: probe.OutcomeHang}
	if s.end == endGone || s.end == endBroken || s.end == endAnswered {
		o.Outcome = probe.OutcomeCrash
		if d.transport == transportStdio {
			o.Exit = d.child.exitStatus()
		}
	}
	d.fill(o, s)
	return o
}

// fill copies what was received into the observation.
func (d *driver) fill(o *probe.Observation, s *seen) {
	o.Response, o.Size = s.response()
	o.Status, o.RetryAfter, o.Broken, o.Extra, o.Notices = s.status, s.retry, s.broken, s.extra, s.notices
	if d.transport == transportStdio {
		o.Broken = ""
	}
	o.Noise = s.noise
	o.Stderr = d.stderr()
}

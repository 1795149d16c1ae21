package share

import "time"

// failing is a report that a call keeps failing.
type failing struct {
	Report
	tool ID
	own  bool // this node has published it
	at   time.Time
}

// failingValue is the value of the key repeat.ID, where ID is the digest of session, tool and arguments. Only a node that knows them can
// make it, so a node can report, truly or not, only calls that it has seen.
type failingValue struct {
	Cleared bool   `json:"cleared,omitempty"` // the call may succeed now
	Session ID     `json:"session"`
	Tool    ID     `json:"tool"`
	Code    string `json:"code,omitempty"`
	Count   int    `json:"count,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// callIDs are the digests of a call.
type callIDs struct{ session, tool, call ID }

func (u *Upstream) ids(session, tool string, arguments []byte) callIDs {
	return callIDs{session: u.sessionID(session), tool: u.toolID(session, tool), call: u.g.id("call", u.id.String(), session, tool, string(arguments))}
}

func (u *Upstream) sessionID(session string) ID { return u.g.id("session", u.id.String(), session) }

func (u *Upstream) toolID(session, tool string) ID {
	return u.g.id("tool", u.id.String(), session, tool)
}

// Failing tells the others that a call keeps failing at this node.
func (u *Upstream) Failing(session, tool string, arguments []byte, r Report) {
	if u == nil {
		return
	}
	ids := u.ids(session, tool, arguments)
	u.g.mu.Lock()
	u.g.addFailing(ids, &failing{Report: r, tool: ids.tool, own: true, at: u.g.o.Now()})
	u.g.mu.Unlock()
	u.g.publish(keyFailing+ids.call.String(), failingValue{Session: ids.session, Tool: ids.tool, Code: r.Code, Count: r.Count, Ref: r.Ref})
}

// FailingElsewhere returns the report of another node that a call keeps failing. It returns each report once.
func (u *Upstream) FailingElsewhere(session, tool string, arguments func() []byte) (Report, bool) {
	if u == nil || u.g.sessions.Load() == 0 {
		return Report{}, false
	}
	in := u.sessionID(session)
	if !u.g.hasReports(in) {
		return Report{}, false
	}
	call := u.ids(session, tool, arguments()).call // without the lock: arguments may be large
	u.g.mu.Lock()
	defer u.g.mu.Unlock()
	f := u.g.failing[in][call]
	if f == nil || f.own || u.g.o.Now().Sub(f.at) > reportTTL {
		return Report{}, false
	}
	u.g.removeFailing(in, call)
	return f.Report, true
}

// hasReports reports whether there are reports about a session that count.
func (g *Group) hasReports(session ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.failing[session]) > 0 && !g.isQuiet(session)
}

// CallRefuted notes that a report has delayed a call of a session, which then succeeded. Further reports about the session are ignored for
// a while.
func (u *Upstream) CallRefuted(session string, delay time.Duration) {
	if u != nil {
		u.g.refute(u.sessionID(session), delay)
	}
}

// Cleared tells the others that calls of a session may succeed now: those of one tool, or all if tool is "". Nothing is sent unless a node
// has reported such a call.
func (u *Upstream) Cleared(session, tool string) {
	if u == nil || u.g.sessions.Load() == 0 {
		return
	}
	in, of := u.sessionID(session), u.toolID(session, tool)
	u.g.mu.Lock()
	var cleared []ID
	values := map[ID]ID{}
	for call, f := range u.g.failing[in] {
		if tool == "" || f.tool == of {
			cleared, values[call] = append(cleared, call), f.tool
			u.g.removeFailing(in, call)
		}
	}
	u.g.mu.Unlock()
	for _, call := range cleared {
		u.g.publish(keyFailing+call.String(), failingValue{Cleared: true, Session: in, Tool: values[call]})
	}
}

// addFailing keeps a report if there is space for it. The lock must be held.
func (g *Group) addFailing(ids callIDs, f *failing) {
	g.removeFailing(ids.session, ids.call)
	if g.reports >= maxReports || g.perNode[f.Node] >= maxReportsPerNode {
		g.ignored++
		return
	}
	calls := g.failing[ids.session]
	if calls == nil {
		calls = map[ID]*failing{}
		g.failing[ids.session] = calls
		g.sessions.Add(1)
	}
	calls[ids.call] = f
	g.reports++
	g.perNode[f.Node]++
}

// removeFailing forgets a report, if there is one. The lock must be held.
func (g *Group) removeFailing(session, call ID) {
	calls := g.failing[session]
	f := calls[call]
	if f == nil {
		return
	}
	delete(calls, call)
	g.reports--
	if g.perNode[f.Node]--; g.perNode[f.Node] == 0 {
		delete(g.perNode, f.Node)
	}
	if len(calls) == 0 {
		delete(g.failing, session)
		g.sessions.Add(-1)
	}
}

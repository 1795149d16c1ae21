package share

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// The beginnings of keys. The rest of the first two is an [ID].
const (
	keyBreaker   = "breaker."
	keyFailing   = "repeat."
	keyCode      = "code."
	keyCatalogue = "catalogue"
)

// receive takes the value of another node. What is invalid is counted and ignored: a node that is newer, broken or hostile must not
// disturb this one.
func (g *Group) receive(v Value) {
	v.Age = max(0, v.Age)
	ok := len(v.Key) <= MaxKey && len(v.Data) <= MaxValue && nodeForm.Get().MatchString(v.Node)
	if ok {
		switch kind, rest, _ := strings.Cut(v.Key, "."); kind {
		case strings.TrimSuffix(keyBreaker, "."):
			ok = g.receiveBreaker(v, rest)
		case strings.TrimSuffix(keyFailing, "."):
			ok = g.receiveFailing(v, rest)
		case strings.TrimSuffix(keyCode, "."):
			ok = g.receiveCode(v, rest)
		case keyCatalogue:
			ok = g.receiveCatalogue(v)
		default:
			ok = false
		}
	}
	if !ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ignored++
	}
}

var (
	nodeForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	refForm  = lazyregexp.New(`^[A-Za-z0-9_-]{0,64}$`)
)

// maxCount is the highest number of failures that is accepted in a report.
const maxCount = 1_000_000

// isPlausible reports whether a report may be shown to a client: it has a registered code and a short ref.
func isPlausible(code string, count int, ref string) bool {
	_, err := candor.ParseCode(code)
	return err == nil && len(code) <= MaxKey && count > 0 && count <= maxCount && refForm.Get().MatchString(ref)
}

func (g *Group) receiveBreaker(v Value, rest string) bool {
	var id ID
	var b breakerValue
	if id.UnmarshalText([]byte(rest)) != nil || json.Unmarshal(v.Data, &b) != nil || b.Open && !isPlausible(b.Code, b.Failures, "") {
		return false
	}
	if v.Age > reportTTL {
		return true
	}
	g.mu.Lock()
	u := g.upstreams[id]
	if u == nil || u.hear == nil || b.Open && g.isQuiet(id) {
		g.mu.Unlock()
		return true
	}
	hear, now := u.hear, g.o.Now()
	g.mu.Unlock() // the breaker has a lock of its own, and publishes while it holds it
	hear(Report{Node: v.Node, Code: b.Code, Count: b.Failures, Since: now.Add(-v.Age), Closed: !b.Open})
	return true
}

func (g *Group) receiveFailing(v Value, rest string) bool {
	var call ID
	var f failingValue
	if call.UnmarshalText([]byte(rest)) != nil || json.Unmarshal(v.Data, &f) != nil || !f.Cleared && !isPlausible(f.Code, f.Count, f.Ref) {
		return false
	}
	if v.Age > reportTTL {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.Cleared {
		if known := g.failing[f.Session][call]; known != nil && !known.own {
			g.removeFailing(f.Session, call)
		}
		return true
	}
	if known := g.failing[f.Session][call]; known != nil && known.own || g.isQuiet(f.Session) {
		return true
	}
	at := g.o.Now().Add(-v.Age)
	g.addFailing(callIDs{session: f.Session, tool: f.Tool, call: call},
		&failing{Report: Report{Node: v.Node, Code: f.Code, Count: f.Count, Ref: f.Ref, Since: at}, tool: f.Tool, at: at})
	return true
}

package workrail_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// host is the program around an agent: it runs the server, restarts it after a crash, and causes a fault in every fifth
// call.
type host struct {
	*place
	r       *rand.Rand
	s       *server
	calls   int
	session string // of the agent, once it has one
	resume  string
	dead    map[string]bool // sessions that were destroyed permanently
	repair  func()          // action of the user when asked; nil if nothing is broken
	seen    map[string]int  // faults and codes
}

// call is one call of a tool.
type call struct {
	tool string
	in   args
}

// luck is a fault that makes a call fail.
type luck struct {
	name string
	fits func(c *call) bool
	// do causes the fault. The returned function, unless nil, is called when the call was answered.
	do func(h *host, c *call) func()
	// needsSession is set if the files of the session must exist.
	needsSession bool
}

func always(*call) bool      { return true }
func continues(c *call) bool { return c.tool == "continue_workflow" }
func starts(c *call) bool    { return c.tool == "start_workflow" }

var lucks = []luck{
	{"token mistyped", continues, func(h *host, c *call) func() {
		token, _ := c.in["continueToken"].(string)
		c.in["continueToken"] = flip(token, h.r.IntN(len(token)))
		return nil
	}, false},
	{"token cut", continues, func(h *host, c *call) func() {
		token, _ := c.in["continueToken"].(string)
		c.in["continueToken"] = token[:h.r.IntN(len(token))] + "x"
		return nil
	}, false},
	{"token of another version", continues, func(_ *host, c *call) func() {
		token, _ := c.in["continueToken"].(string)
		c.in["continueToken"] = token[:3] + "z" + token[4:]
		return nil
	}, false},
	{"token of another kind", continues, func(h *host, c *call) func() {
		c.in["continueToken"] = h.resume
		return nil
	}, false},
	{"wrong argument", always, func(_ *host, c *call) func() { c.in["notess"] = 5; return nil }, false},
	{"wrong workflow", starts, func(_ *host, c *call) func() { c.in["workflowId"] = "bug-hnt"; return nil }, false},
	{"panic", always, func(_ *host, c *call) func() { *c = call{"drill", args{"kind": "panic"}}; return nil }, false},
	{"timeout", always, func(_ *host, c *call) func() { *c = call{"drill", args{"kind": "timeout"}}; return nil }, false},
	{"locked", continues, func(h *host, _ *call) func() {
		release := h.hold(h.session)
		time.AfterFunc(800*time.Millisecond, release)
		return nil
	}, true},
	{"session gone", continues, func(h *host, _ *call) func() {
		h.dead[h.session] = true
		_ = os.Rename(h.place.session(h.session), filepath.Join(h.state, "gone-"+h.session))
		return nil
	}, true},
	{"session damaged", continues, func(h *host, _ *call) func() {
		h.dead[h.session] = true
		names := h.segments(h.session)
		name := names[h.r.IntN(len(names))]
		h.write(name, strings.Replace(h.read(name), `"data"`, `"dato"`, 1))
		return nil
	}, true},
	{"workflow replaced", continues, func(h *host, _ *call) func() {
		h.dead[h.session] = true
		name := h.snapshot()
		h.write(name, strings.Replace(h.read(name), `"prompt":"`, `"prompt":"X `, 1))
		return nil
	}, false},
	{"workflow gone", continues, func(h *host, _ *call) func() {
		name := h.snapshot()
		text := h.read(name)
		_ = os.Remove(name)
		h.repair = func() { h.write(name, text) }
		return nil
	}, false},
	{"workflow damaged", continues, func(h *host, _ *call) func() {
		name := h.snapshot()
		text := h.read(name)
		h.write(name, "{")
		h.repair = func() { h.write(name, text) }
		return nil
	}, false},
	{"killed before", always, func(h *host, _ *call) func() { h.s.Kill(); return nil }, false},
	{"killed meanwhile", always, func(h *host, _ *call) func() {
		s := h.s
		time.AfterFunc(time.Duration(h.r.IntN(5000))*time.Microsecond, func() { _ = s.Cmd.Process.Kill() })
		return nil
	}, false},
	{"killed after", always, func(h *host, _ *call) func() { return h.s.Kill }, false},
}

// do sends a call. lost is true if the connection broke before the agent received the answer; the server is then
// running again.
func (h *host) do(c *call) (a answer, lost bool) {
	h.calls++
	sent := *c
	var after func()
	if h.calls%5 == 0 && h.repair == nil {
		fitting := []luck{}
		for _, l := range lucks {
			if l.fits(c) && !(l.needsSession && h.dead[h.session]) {
				fitting = append(fitting, l)
			}
		}
		l := fitting[h.r.IntN(len(fitting))]
		h.seen[l.name]++
		after = l.do(h, &sent)
		if sent.tool == c.tool {
			*c = sent // the agent believes that it sent the changed call; a drill, which calls another tool, is hidden from it
		}
	}
	m, err := h.s.Try("tools/call", servertest.CallParams(h.t, sent.tool, sent.in))
	if after != nil {
		after()
		err = servertest.ErrEnded
	}
	if err != nil {
		h.s.Kill()
		h.s = h.start("--drill")
		return answer{}, true
	}
	a = answer{h.t, &m}
	if a.failed() {
		a.wellFormed()
		h.seen[a.code()]++
	}
	return a, false
}

// askUser lets the user repair the damage.
func (h *host) askUser() {
	if h.repair != nil {
		h.repair()
		h.repair = nil
	}
}

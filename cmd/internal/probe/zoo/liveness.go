package zoo

import (
	"context"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// floodSize is how many notifications come before an answer that is flooded.
const floodSize = 200

// liveness are answers that come late, twice, to somebody else, or not at all.
func liveness() []cage {
	defect := func(id, title, about, rule string) Defect {
		return Defect{ID: id, Tool: id, Title: title, About: about, Rule: rule, Cases: missingCases}
	}
	held := func(hold func(context.Context, *call) bool) func(*call) answer {
		return func(c *call) answer {
			a := c.honest()
			a.hold = hold
			return a
		}
	}
	crash := defect("crash", "wrong arguments kill the server", "A name that is no text ends the server without an answer.", "EC021")
	crash.Cases = []string{probe.CaseWrongType}
	sound := defect("sound-dies", "a sound call kills the server", "A call for a record that exists ends the server without an answer.", "EC021")
	sound.Cases = []string{probe.CaseValid}
	keeps := defect("keeps-on", "a call that cannot be called off", "A call that was called off is worked on and answered all the same.", "EC050")
	keeps.Cases = []string{probe.CaseCancel}
	return []cage{
		{Defect: crash, on: whenInput, show: func(c *call) answer {
			if name, ok := c.arguments.Get("name"); !ok || name.Type() == wire.TypeString {
				return c.honest()
			}
			return answer{dies: true}
		}},
		{Defect: sound, on: whenSound, show: func(*call) answer { return answer{dies: true} }},
		{Defect: defect("hang", "no answer ever", "A call for a missing record is never answered; the server lives on.", "EC022"),
			on: whenMissing, show: held(func(ctx context.Context, _ *call) bool { <-ctx.Done(); return false })},
		{Defect: defect("late", "an answer after the deadline", "A call for a missing record is answered when nobody waits any more.", "EC022"),
			on: whenMissing, show: held(func(ctx context.Context, c *call) bool { return passes(ctx, c.zoo.deadline+c.zoo.deadline/4) })},
		{Defect: keeps, on: whenAsked, lasts: true, show: held(func(ctx context.Context, c *call) bool { return passes(ctx, c.zoo.deadline/2) })},
		{Defect: defect("wrong-id", "an answer under another id", "A call for a missing record is answered under an id that nobody has sent.", "EC028"),
			on: whenMissing, show: func(c *call) answer { return one(edited(c.candid(c.err), `"zoo-nobody"`, "id")) }},
		{Defect: defect("answered-twice", "two answers to one call", "A call for a missing record is answered twice.", "EC045"),
			on: whenMissing, show: func(c *call) answer {
				frame := c.candid(c.err)
				return answer{frames: [][]byte{frame, frame}}
			}},
		{Defect: defect("noise", "prints between messages", "A call for a missing record prints a line that is no message before the answer.", "EC029"),
			on: whenMissing, show: func(c *call) answer {
				return answer{frames: [][]byte{[]byte("DEBUG records: looking for a name"), c.candid(c.err)}}
			}},
		{Defect: defect("flood", "a flood of notifications", "A call for a missing record sends "+strconv.Itoa(floodSize)+" log messages before the answer.", "EC046"),
			on: whenMissing, show: func(c *call) answer {
				var a answer
				for i := range floodSize {
					a.frames = append(a.frames, []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"record `+strconv.Itoa(i)+` is not it"}}`))
				}
				a.frames = append(a.frames, c.candid(c.err))
				return a
			}},
	}
}

// passes waits, and reports that nothing ended the waiting.
func passes(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

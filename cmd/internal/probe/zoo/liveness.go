package zoo

import (
	"context"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// floodSize is the number of notifications before an answer of the defect flood.
const floodSize = 200

// liveness are answers that are late, duplicated, misaddressed or missing.
func liveness() []implementation {
	held := func(hold func(context.Context, *call) bool) func(*call) answer {
		return func(c *call) answer {
			a := c.honest()
			a.hold = hold
			return a
		}
	}
	return []implementation{
		{Defect: defect("crash", "wrong arguments end the server", "A name that is not a text ends the server without an answer.", "EC021", probe.CaseWrongType),
			on: whenInput, show: func(c *call) answer {
				if name, ok := c.arguments.Get("name"); !ok || name.Type() == wire.TypeString {
					return c.honest()
				}
				return answer{dies: true}
			}},
		{Defect: defect("sound-dies", "a valid call ends the server", "A call for a record that exists ends the server without an answer.", "EC021", probe.CaseValid),
			on: whenSound, show: func(*call) answer { return answer{dies: true} }},
		{Defect: defect("hang", "no answer ever", "A call for a missing record is never answered; the server continues.", "EC022"),
			on: whenMissing, show: held(func(ctx context.Context, _ *call) bool { <-ctx.Done(); return false })},
		{Defect: defect("late", "an answer after the deadline", "A call for a missing record is answered after the deadline.", "EC022"),
			on: whenMissing, show: held(func(ctx context.Context, c *call) bool { return passes(ctx, c.zoo.deadline+c.zoo.deadline/4) })},
		{Defect: defect("keeps-on", "cancellation is ignored", "A cancelled call continues and is answered.", "EC050", probe.CaseCancel),
			on: whenAsked, lasts: true, show: held(func(ctx context.Context, c *call) bool { return passes(ctx, c.zoo.deadline/2) })},
		{Defect: defect("wrong-id", "an answer with another id", "A call for a missing record is answered with an id that was not sent.", "EC028"),
			on: whenMissing, show: func(c *call) answer { return one(edited(c.candorFailure(c.err), `"zoo-nobody"`, "id")) }},
		{Defect: defect("answered-twice", "two answers to one call", "A call for a missing record is answered twice.", "EC045"),
			on: whenMissing, show: func(c *call) answer {
				frame := c.candorFailure(c.err)
				return answer{frames: [][]byte{frame, frame}}
			}},
		{Defect: defect("noise", "prints between messages", "A call for a missing record prints a line that is not a message before the answer.", "EC029"),
			on: whenMissing, show: func(c *call) answer {
				return answer{frames: [][]byte{[]byte("DEBUG records: looking for a name"), c.candorFailure(c.err)}}
			}},
		{Defect: defect("flood", "a flood of notifications", "A call for a missing record sends "+strconv.Itoa(floodSize)+" log messages before the answer.", "EC046"),
			on: whenMissing, show: func(c *call) answer {
				var a answer
				for i := range floodSize {
					a.frames = append(a.frames, []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"record `+strconv.Itoa(i)+` is not it"}}`))
				}
				a.frames = append(a.frames, c.candorFailure(c.err))
				return a
			}},
	}
}

// passes waits, and reports whether the wait was not interrupted.
func passes(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

package gateway

import (
	"context"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// Admit opens a call for a request of a client, or refuses it: then the answer to send is returned, recorded and counted, and
// nothing is to be forwarded. The message must be a request; it is copied.
func (u *Upstream) Admit(ctx context.Context, m *wire.Message, session string) (*Call, []byte) {
	return u.admit(ctx, m, session, true)
}

// admit is [Upstream.Admit], with or without objections to the tool and its arguments.
func (u *Upstream) admit(ctx context.Context, m *wire.Message, session string, object bool) (*Call, []byte) {
	c := u.newCall(m, session)
	if u.ending.Load() {
		return nil, c.Fail(ctx, draining())
	}
	if object {
		if e := c.objection(); e != nil {
			return nil, c.Fail(ctx, e)
		}
	}
	if e := u.breakers.enter(c); e != nil {
		return nil, c.Fail(ctx, e)
	}
	u.budget.earn()
	return c, nil
}

// objection is why a call is not worth forwarding, nil if it is.
func (c *Call) objection() *candor.Error {
	if !c.isTool() || c.up.o.Mode == ModeObserve {
		return nil
	}
	misfit := c.misfit()
	if stop := c.up.repeats.stop(c); stop != nil {
		return stop
	}
	return misfit
}

// misfit says that there is no such tool, or that its own schema refuses the arguments; nil if neither is known.
func (c *Call) misfit() *candor.Error {
	if c.up.o.NoValidation {
		return nil
	}
	tool, known := c.up.tools.find(c.session, c.tool)
	switch {
	case tool != nil:
		if arguments := c.arguments(); tool.input != nil && !tool.input.Accepts(arguments) {
			return teach.Arguments(tool.input, arguments, candor.PartyGateway)
		}
		return nil
	case known:
		return teach.UnknownTool(c.tool, c.up.tools.names(c.session), candor.PartyGateway)
	default:
		return nil // nobody has asked for the tools yet
	}
}

// fits reports a call whose arguments were held against the tool's own schema before it was forwarded.
func (c *Call) fits() bool {
	tool, _ := c.up.tools.find(c.session, c.tool)
	return c.isTool() && tool != nil && tool.input != nil && !c.up.o.NoValidation && c.up.o.Mode != ModeObserve
}

// Malformed answers bytes of a client that are no message. The answer is nil if nobody may be answered: what is wrong was recorded.
func (u *Upstream) Malformed(ctx context.Context, m *wire.Message, session string) []byte {
	e := teach.Flaw(m.Malformation(), candor.PartyGateway)
	c := &Call{up: u, request: m.Clone(), session: session, method: contract.Bound(string(m.Method()), maxMethod), began: u.o.now(), attempt: 1}
	c.id = teach.AnswerID(&c.request, e.Code())
	if m.Shape() == wire.KindNotification && m.Malformation().Flaw != wire.FlawBadMethod || m.Shape() == wire.KindResult || m.Shape() == wire.KindError {
		c.suppress(ctx, e, contract.VerdictMalformed)
		return nil
	}
	return c.refuse(ctx, e, contract.VerdictMalformed)
}

// Oversize answers a frame of a client that was too large to be kept. Head and tail are what is known of it.
func (u *Upstream) Oversize(ctx context.Context, size int64, head, tail []byte, session string) []byte {
	e := candor.New(candor.CodeMessageTooLarge, "", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithDetails(map[string]any{"bytes": size}))
	c := &Call{up: u, session: session, began: u.o.now(), attempt: 1, id: wire.PeekID(head, tail).Clone()}
	return c.refuse(ctx, e, contract.VerdictMalformed)
}

const maxMethod = 128

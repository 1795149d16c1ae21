package boundary

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// What a handler leaves behind may panic only when it is looked at: the Error method of a nil pointer that was returned as an
// error, a MarshalJSON, an As. That is foreign code that runs after the handler has returned, and it is the handler's failure all
// the same. What panicked is not asked a second time.

func (b *Boundary) stumble(v any) *candor.Error {
	return b.ask(func() *candor.Error {
		return candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithCauseText(candor.NewCause(fmt.Sprint(v), "", "panic")))
	})
}

// stumbled answers for any method but tools/call.
func (g *guard) stumbled(ctx context.Context, method string, req mcp.Request, v any) (mcp.Result, error) {
	x := g.exchangeOf(method, req)
	out := g.protocolError(ctx, g.b.stumble(v), &x, rpcError{}, isNotification(method))
	g.noteRecorded(req, &out)
	return out.result, out.err
}

// stumbledTool answers for the tool that was called, whatever the handler made of its request.
func (g *guard) stumbledTool(ctx context.Context, name string, req *mcp.CallToolRequest, v any) (mcp.Result, error) {
	asked := mcp.CallToolRequest{Session: req.Session, Extra: req.Extra, Params: &mcp.CallToolParamsRaw{Name: name}}
	if req.Params != nil {
		asked.Params.Meta, asked.Params.Arguments = req.Params.Meta, req.Params.Arguments
	}
	out := toolCall{g: g, req: &asked}.fail(ctx, g.b.stumble(v), nil)
	g.noteRecorded(&asked, &out)
	return out.result, out.err
}

// speaks reports that an error can say what it is.
func speaks(err error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	_ = err.Error()
	return true
}

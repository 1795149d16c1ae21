package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/wire"
)

// clientName is the name of the client in a handshake.
const clientName = "candor-doctor"

// answers is what a server has said about itself.
type answers struct {
	name, version, protocol string
	tools                   int
	hasTools                bool
	legacy                  bool // it was reached over the older SSE transport, and nothing was requested
}

func (a answers) words(took time.Duration) string {
	if a.legacy {
		return "answers over the older SSE transport; its tools were not requested"
	}
	tools := "no tools"
	if a.hasTools {
		tools = plural.Count(a.tools, "tool", "tools")
	}
	name := shown(a.name)
	if a.version != "" {
		name += " " + shown(a.version)
	}
	return fmt.Sprintf("%s answers, with %s, protocol %s, in %s", name, tools, shown(a.protocol), took.Round(time.Millisecond))
}

// fault is an error that is a finding.
type fault struct{ Finding }

func (f fault) Error() string { return f.Text }

// badAnswer is the finding for an answer of the handshake that is an error or has a wrong form.
func badAnswer(method, text string) error {
	if method == "initialize" {
		return fault{failed("server-initialize", "answers initialize with an error: "+shown(text), "check the settings and the credentials of the server")}
	}
	return fault{failed("server-tools", "answers "+method+" with an error: "+shown(text), "check the settings and the credentials of the server; candor probe tests it in detail")}
}

// statusError is the status of an HTTP response that is not a success.
type statusError int

func (e statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP status %d %s", int(e), http.StatusText(int(e))))
}

// handshake initializes a session and requests the first page of tools. asked is the last request.
func handshake(ctx context.Context, c *mcpclient.Client) (a answers, asked string, err error) {
	asked = "initialize"
	hello, err := c.Initialize(ctx)
	if err := judged(asked, hello, err); err != nil {
		return a, asked, err
	}
	text := func(path ...any) string { s, _ := hello.Result().Path(path...).Str(); return s }
	if a.protocol = text("protocolVersion"); a.protocol == "" {
		return a, asked, badAnswer(asked, "the answer has no protocolVersion")
	}
	a.name, a.version = cmp.Or(text("serverInfo", "name"), "the server"), text("serverInfo", "version")
	if _, a.hasTools = hello.Result().Path("capabilities").Get("tools"); !a.hasTools {
		return a, asked, nil
	}
	asked = "tools/list"
	list, err := c.Ask(ctx, asked, `{}`)
	if err := judged(asked, list, err); err != nil {
		return a, asked, err
	}
	tools := list.Result().Path("tools")
	if tools.Present() && tools.Type() != wire.TypeArray {
		return a, asked, badAnswer(asked, "the result has another form than the protocol says")
	}
	a.tools = tools.Len()
	return a, asked, nil
}

// judged returns an error unless an answer is a result.
func judged(method string, a mcpclient.Answer, err error) error {
	number := a.Error().Path("code")
	switch {
	case err != nil:
		return err
	case a.Frame.Status >= http.StatusMultipleChoices:
		return statusError(a.Frame.Status)
	case number.Present() || a.Error().Present():
		message, _ := a.Error().Path("message").Str()
		return badAnswer(method, string(number.Raw())+" "+message)
	case a.Shape() != wire.KindResult:
		return badAnswer(method, "the body is not the answer")
	case a.Result().Type() != wire.TypeObject:
		return badAnswer(method, "the result has another form than the protocol says")
	}
	return nil
}

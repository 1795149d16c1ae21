package boundary

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/splice"
)

// Extension is the name under which a server announces Candor in capabilities.extensions, with the version of the contract, the
// dialects of the server and the method that returns its counts. Clients read it there and do not send a method to find out whether
// it exists, because an unknown method over HTTP ends the session of some clients.
const Extension = "dev.candor/errors"

// StatsMethod is the custom method that returns the counts. A server offers it if its meter is a [Reporter].
const StatsMethod = "sys/errorStats"

const contractVersion = "1"

// announce adds the extension to results that have capabilities. The SDK creates the capabilities anew for each result, so announce
// may modify them.
func (g *guard) announce(r mcp.Result) {
	var caps *mcp.ServerCapabilities
	switch r := r.(type) {
	case *mcp.InitializeResult:
		caps = r.Capabilities
	case *mcp.DiscoverResult:
		caps = r.Capabilities
	default:
		return
	}
	if caps == nil {
		return
	}
	caps.AddExtension(Extension, g.b.extension())
}

// extension returns the value that is announced under [Extension].
func (b *Boundary) extension() map[string]any {
	settings := map[string]any{"version": contractVersion, "dialects": []string{b.o.Dialect.Name()}}
	if _, reports := b.o.Meter.(Reporter); reports {
		settings["stats"] = StatsMethod
	}
	return settings
}

type statsParams struct{ mcp.ParamsBase }

type statsResult struct {
	mcp.ResultBase
	counts   json.RawMessage
	complete bool
}

// MarshalJSON adds resultType and _meta to the counts.
func (r *statsResult) MarshalJSON() ([]byte, error) {
	out := withResultType(r.counts, r.complete)
	if len(r.Meta) == 0 {
		return out, nil
	}
	meta, err := encodeValue(r.Meta)
	if err != nil {
		return nil, err
	}
	return splice.SetMember(nil, out, []string{"_meta"}, meta)
}

// withResultType adds the resultType that protocol version 2026-07-28 requires in every result.
func withResultType(result json.RawMessage, newEra bool) json.RawMessage {
	if !newEra {
		return result
	}
	out, err := splice.SetMember(nil, result, []string{"resultType"}, []byte(`"complete"`))
	if err != nil {
		return result
	}
	return out
}

// offerStats registers sys/errorStats if the meter is a [Reporter].
func (b *Boundary) offerStats(server *mcp.Server) {
	reporter, ok := b.o.Meter.(Reporter)
	if !ok {
		return
	}
	err := mcp.AddReceivingCustomMethod(server, StatsMethod,
		func(_ context.Context, _ *mcp.ServerSession, params *statsParams) (*statsResult, error) {
			r := &statsResult{counts: reporter.AppendStats(nil)}
			if params != nil {
				r.complete = isNewEra(params.Meta)
			}
			return r, nil
		})
	if err != nil {
		b.o.Logger.Error("sys/errorStats cannot be offered", slog.Any("error", err))
	}
}

// CodesKey is the member of a tool's _meta that lists the codes that the tool can return.
const CodesKey = "dev.candor/codes"

// Declare stores the codes that a tool can return in its _meta, where clients see them, and returns the tool. If the tool returns
// another code, [Options.Undeclared] is called.
func Declare(t *mcp.Tool, codes ...candor.Code) *mcp.Tool {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = c.String()
	}
	if t.Meta == nil {
		t.Meta = mcp.Meta{}
	}
	t.Meta[CodesKey] = names
	return t
}

func declaredCodes(t *mcp.Tool) []candor.Code {
	names, ok := t.Meta[CodesKey].([]string)
	if !ok {
		return nil
	}
	codes := make([]candor.Code, 0, len(names))
	for _, name := range names {
		if c, err := candor.ParseCode(name); err == nil {
			codes = append(codes, c)
		}
	}
	return codes
}

// always lists the codes that the boundary may return for any tool, declared or not.
var always = []candor.Code{
	candor.CodeInvalidArguments, candor.CodeToolNotFound, candor.CodeCancelled, candor.CodeCallTimeout,
	candor.CodeLedgerFailed, candor.CodeLedgerLocked,
}

// declared calls Undeclared if the tool declares codes and the code of e is not one of them.
func (c toolCall) declared(e *candor.Error) {
	if c.g.b.o.Undeclared == nil || c.tool == nil || c.tool.codes == nil {
		return
	}
	if code := e.Code(); !slices.Contains(c.tool.codes, code) && !slices.Contains(always, code) {
		c.g.b.o.Undeclared(c.tool.listed.Name, code)
	}
}

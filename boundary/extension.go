package boundary

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/splice"
)

// extensionName is the name under which a server announces Candor in capabilities.extensions, with the version of the contract, the
// dialects of the server and the method that returns its counts. Clients read it there and do not send a method to find out whether
// it exists, because an unknown method over HTTP ends the session of some clients.
const extensionName = "dev.candor/errors"

// statsMethod is the custom method that returns the counts. A server offers it if its meter is a [reporter].
const statsMethod = "sys/errorStats"

const contractVersion = "1"

// announce adds the extension to results that have capabilities. The SDK creates new capabilities for each result, so announce
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
	caps.AddExtension(extensionName, g.b.extension())
}

// extension returns the value that is announced under [extensionName].
func (b *Boundary) extension() map[string]any {
	settings := map[string]any{"version": contractVersion, "dialects": []string{b.o.Dialect.Name()}}
	if _, reports := b.o.Meter.(reporter); reports {
		settings["stats"] = statsMethod
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

// offerStats registers sys/errorStats if the meter is a [reporter].
func (b *Boundary) offerStats(server *mcp.Server) {
	reporter, ok := b.o.Meter.(reporter)
	if !ok {
		return
	}
	err := mcp.AddReceivingCustomMethod(server, statsMethod,
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

// codesKey is the member of a tool's _meta that lists the codes that the tool can return.
const codesKey = "dev.candor/codes"

// Declare stores the codes that a tool can return in its _meta, where clients see them, and returns the tool.
func Declare(t *mcp.Tool, codes ...candor.Code) *mcp.Tool {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = c.String()
	}
	if t.Meta == nil {
		t.Meta = mcp.Meta{}
	}
	t.Meta[codesKey] = names
	return t
}

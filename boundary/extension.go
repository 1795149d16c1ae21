package boundary

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
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

// MarshalJSON writes the members of the counts, resultType and _meta into one object.
func (r *statsResult) MarshalJSON() ([]byte, error) {
	var out map[string]json.RawMessage
	if err := json.Unmarshal(r.counts, &out); err != nil {
		return nil, err
	}
	if r.complete {
		out["resultType"] = json.RawMessage(`"complete"`)
	}
	if len(r.Meta) > 0 {
		meta, err := json.Marshal(r.Meta)
		if err != nil {
			return nil, err
		}
		out["_meta"] = meta
	}
	return json.Marshal(out)
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
				version, _ := params.Meta[mcp.MetaKeyProtocolVersion].(string)
				r.complete = version >= "2026-07-28"
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

// TestingT is the part of *testing.T that [FailUndeclared] needs.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// FailUndeclared returns a function for [Options.Undeclared] that fails a test when a tool returns a code that it has not declared.
func FailUndeclared(t TestingT) func(tool string, code candor.Code) {
	return func(tool string, code candor.Code) {
		t.Helper()
		t.Errorf("the tool %q raised %s, which it does not declare: add it to boundary.Declare, or map it to a declared code", tool, code)
	}
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

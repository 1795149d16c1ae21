package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
)

// Middleware returns a tool middleware for a server that is served by mcp-go itself. It recovers panics, checks arguments and
// results, and returns every failure of a tool as a result with isError and the envelope. It does not see errors that mcp-go answers
// itself, such as an unknown tool; see [Wrap].
func Middleware(o boundary.Options) server.ToolHandlerMiddleware { return guard{boundary.New(o)}.tool }

// guard is the middleware of one server.
type guard struct{ b *boundary.Boundary }

func (g guard) tool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := callOf(ctx, req)
		var result *mcp.CallToolResult
		var asks error
		raw, failure := g.b.CallTool(ctx, c, func(ctx context.Context) (json.RawMessage, error) {
			r, err := next(ctx, req)
			if asksForURL(err) { // not a failure: the protocol has a separate error number for it
				asks = err
				return json.RawMessage(`{"resultType":"input_required"}`), nil
			}
			if err != nil {
				return nil, err
			}
			result = r
			return encode(r)
		})
		switch {
		case failure != nil:
			return failed(raw, failure)
		case asks != nil:
			return nil, asks
		}
		return result, nil
	}
}

// callOf describes a request for the boundary.
func callOf(ctx context.Context, req mcp.CallToolRequest) boundary.Call {
	promised := promisedBy(ctx, req.Params.Name)
	c := boundary.Call{
		Tool: req.Params.Name, Arguments: req.Params.RawArguments, Meta: metaOf(req),
		InputSchema: promised.input, OutputSchema: promised.output, Repeatable: promised.repeatable,
		Complete: mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)),
	}
	if session := server.ClientSessionFromContext(ctx); session != nil {
		c.Session = session.SessionID()
		if named, ok := session.(server.SessionWithClientInfo); ok {
			c.Client = named.GetClientInfo().Name
		}
	}
	return c
}

// failed returns the result that reports a failure, with the envelope byte for byte as it was recorded.
func failed(raw json.RawMessage, failure *candor.Error) (*mcp.CallToolResult, error) {
	result := new(mcp.CallToolResult)
	var sent struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, result) != nil || json.Unmarshal(raw, &sent) != nil {
		return nil, failure
	}
	if own, ok := sent.Meta[dialect.MetaKey]; ok && result.Meta != nil {
		result.Meta.AdditionalFields[dialect.MetaKey] = own
	}
	return result, nil
}

// asksForURL reports whether err asks the client to send its user to a URL.
func asksForURL(err error) bool {
	var (
		value   mcp.URLElicitationRequiredError
		pointer *mcp.URLElicitationRequiredError
	)
	return errors.As(err, &value) || errors.As(err, &pointer)
}

// encode encodes a result as mcp-go does, which sends nothing if encoding fails. It also returns an error for content that clients
// cannot read.
func encode(r *mcp.CallToolResult) (json.RawMessage, error) {
	if r == nil {
		return nil, nil
	}
	for _, block := range r.Content {
		if v := reflect.ValueOf(block); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, notEncodable(errors.New("a block of the content is nil")) // it would be encoded as null
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, notEncodable(err)
	}
	return raw, nil
}

func notEncodable(err error) error {
	return candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyTool, false), candor.WithCause(err))
}

func metaOf(req mcp.CallToolRequest) map[string]any {
	if req.Params.Meta == nil {
		return nil
	}
	return req.Params.Meta.AdditionalFields
}

// schemas holds the schemas and hints that a tool declares.
type schemas struct {
	input, output json.RawMessage
	repeatable    bool // the tool declares readOnlyHint or idempotentHint
}

// promisedBy looks up the tool among those of the session, then among those of the server, as mcp-go does.
func promisedBy(ctx context.Context, name string) schemas {
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithTools); ok {
		if t, ok := session.GetSessionTools()[name]; ok {
			return schemasOf(t.Tool)
		}
	}
	if s := server.ServerFromContext(ctx); s != nil {
		if t := s.GetTool(name); t != nil {
			return schemasOf(t.Tool)
		}
	}
	return schemas{}
}

func schemasOf(t mcp.Tool) schemas {
	s := schemas{input: t.RawInputSchema, output: t.RawOutputSchema, repeatable: isTrue(t.Annotations.ReadOnlyHint) || isTrue(t.Annotations.IdempotentHint)}
	if s.input == nil && t.InputSchema.Type != "" {
		s.input, _ = json.Marshal(t.InputSchema)
	}
	if s.output == nil && t.OutputSchema.Type != "" {
		s.output, _ = json.Marshal(t.OutputSchema)
	}
	return s
}

func isTrue(hint *bool) bool { return hint != nil && *hint }

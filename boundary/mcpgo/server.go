// Package mcpgo makes an MCP server built on mark3labs/mcp-go report every failure as one readable, typed error with retry advice,
// as package boundary does for the official SDK. Each failure is recorded before it is sent, and counted once.
//
// # How do I use it?
//
//	s := mcpgo.Wrap(server.NewMCPServer("name", "1.0"), boundary.Options{Ledger: trail, Meter: counts})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// [Wrap] covers a whole server: [Server.ServeStdio], [Server.HTTP] and, for custom transports, [Server.HandleMessage]. [Middleware] alone
// covers the failures of tools, but not the errors that mcp-go answers itself.
//
// # What are its limits?
//
//   - Over stdio, mcp-go does not answer a prompt or resource request whose result cannot be encoded.
//   - Over HTTP, failures of tools are always results, also with the rpc dialect.
//   - Do not use mcp-go's WithInputSchemaValidation: it answers before this package sees the call, and over HTTP its refusals are not
//     recorded. This package checks the arguments itself.
package mcpgo

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/boundary/internal/adapter"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// Server is an mcp-go server behind a boundary. It is safe for concurrent use.
type Server struct {
	inner *server.MCPServer
	b     *boundary.Boundary
	a     adapter.Adapter
	o     boundary.Options
}

// Wrap adds a boundary to a server. Call it once, after the server's other tool middleware was added, so that the boundary sees the
// failures of that middleware, and serve through the returned Server.
func Wrap(s *server.MCPServer, o boundary.Options) *Server {
	b := boundary.New(o)
	a := adapter.Of(b)
	s.Use((&guard{a: a, o: o}).tool)
	return &Server{inner: s, b: b, a: a, o: o}
}

// HandleMessage returns the answer to one JSON-RPC message, or nil if there is no answer. It is for custom transports, which must set
// the context as mcp-go's do.
func (s *Server) HandleMessage(ctx context.Context, message json.RawMessage) []byte {
	if answer, refused := s.a.RefuseMessage(ctx, message); refused {
		return answer
	}
	asked := wire.Parse(message, wire.Limits{AllowLoneSurrogates: true})
	if asked.MethodIs(boundary.StatsMethod) && asked.Shape() == wire.KindRequest {
		if stats, ok := s.a.Stats(asked.Params().Raw()); ok {
			return response(asked.ID(), stats)
		}
	}
	answer, failure := s.answer(ctx, message)
	if failure != nil {
		return s.a.RefuseRequest(ctx, message, failure)
	}
	if answer == nil || asked.Shape() != wire.KindRequest {
		return nil
	}
	answer, recorded := s.finish(ctx, answer, &asked)
	if recorded {
		return answer
	}
	return s.a.SealAnswer(ctx, message, answer)
}

// answer returns the answer of mcp-go, and recovers its panics.
func (s *Server) answer(ctx context.Context, message json.RawMessage) (out []byte, failure *candor.Error) {
	defer func() {
		if v := recover(); v != nil {
			out, failure = nil, s.a.Recovered(v)
		}
	}()
	answer := s.inner.HandleMessage(ctx, message)
	if answer == nil {
		return nil, nil
	}
	raw, err := s.a.Encode(answer)
	if err != nil {
		return nil, candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyServer, false), candor.WithCause(err))
	}
	return raw, nil
}

// finish completes an answer of mcp-go: it records a result with isError that has not passed through the middleware, writes the rpc
// dialect, announces the extension, and adds similar names to the refusal of an unknown tool. It reports whether the answer contains
// a failure that was recorded.
func (s *Server) finish(ctx context.Context, answer []byte, asked *wire.Message) (out []byte, recorded bool) {
	m := wire.Parse(answer, wire.Limits{AllowLoneSurrogates: true})
	if m.Shape() != wire.KindResult {
		return s.finishError(ctx, &m, asked)
	}
	result := m.Result().Raw()
	switch method := string(asked.Method()); {
	case method == "initialize" || method == "server/discover":
		return response(asked.ID(), s.a.Announce(result)), false
	case method != "tools/call":
		return answer, false
	}
	if failed, _ := m.Result().Path("isError").Bool(); !failed {
		return answer, false
	}
	e := s.a.Envelope(result)
	if e == nil {
		name, _ := asked.Params().Path("name").Str()
		call := adapter.Call{Tool: name, Arguments: asked.Params().Path("arguments").Raw()}
		if t := s.inner.GetTool(name); t != nil {
			call.Repeatable = schemasOf(t.Tool).repeatable
		}
		result, e = s.a.FailCall(ctx, call, nil, result)
	}
	if d := s.o.Dialect; d != nil && d.Carrier() == dialect.CarrierRPCError {
		return d.Write(nil, e, dialect.Options{ID: asked.ID(), Response: true, Stack: s.o.Stack}), true
	}
	return response(asked.ID(), result), true
}

// finishError answers a call of an unknown tool with similar names. Any other error is returned unchanged.
func (s *Server) finishError(ctx context.Context, m, asked *wire.Message) (out []byte, recorded bool) {
	text, _ := m.Error().Path("message").Str()
	if !asked.MethodIs("tools/call") || !strings.HasSuffix(text, server.ErrToolNotFound.Error()) {
		return m.Bytes(), false
	}
	name, _ := asked.Params().Path("name").Str()
	known := slices.Sorted(maps.Keys(s.inner.ListTools()))
	return s.a.RefuseRequest(ctx, asked.Bytes(), teach.UnknownTool(name, known, candor.PartyServer)), true
}

func response(id wire.ID, result []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"result":`...), result...), '}')
}

// Package mcpgo is the edge of an MCP server built on mark3labs/mcp-go: it makes the same promise as package boundary does for the
// official SDK. Behind it anything may fail in any way, in front of it every failure is one readable, typed, retry-aware
// error that was recorded before it was sent and counted once.
//
//	s := mcpgo.Wrap(server.NewMCPServer("name", "1.0"), boundary.Options{Ledger: trail, Meter: counts})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// [Wrap] covers a whole server: [Server.ServeStdio], [Server.HTTP] and, for a transport of one's own, [Server.HandleMessage].
// [Middleware] alone covers what tools do, and nothing that mcp-go answers by itself.
//
// What it cannot do: a prompt or resource whose result cannot be encoded is not answered by mcp-go over stdio; the rpc dialect
// is not spoken for tool failures over HTTP, which stay results; mcp-go's own WithInputSchemaValidation answers before anything
// here is asked, and over HTTP unrecorded, so leave it off: arguments are checked here.
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
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// Server is an mcp-go server behind a boundary. It is safe for concurrent use.
type Server struct {
	inner *server.MCPServer
	b     *boundary.Boundary
	o     boundary.Options
}

// Wrap puts a boundary around a server. Call it once, after the server's own tool middleware was added, so that it stands
// outside of that, and serve through the Server it returns.
func Wrap(s *server.MCPServer, o boundary.Options) *Server {
	b := boundary.New(o)
	s.Use((&guard{b: b, o: o}).tool)
	return &Server{inner: s, b: b, o: o}
}

// HandleMessage answers one JSON-RPC message; nil means that there is no answer. It is for transports of one's own, which set
// the context as mcp-go's do.
func (s *Server) HandleMessage(ctx context.Context, message json.RawMessage) []byte {
	if answer, refused := s.b.RefuseMessage(ctx, message); refused {
		return answer
	}
	asked := wire.Parse(message, wire.Limits{AllowLoneSurrogates: true})
	if asked.MethodIs(boundary.StatsMethod) && asked.Shape() == wire.KindRequest {
		if stats, ok := s.b.Stats(); ok {
			return response(asked.ID(), s.complete(stats, &asked))
		}
	}
	answer, failure := s.answer(ctx, message)
	if failure != nil {
		return s.b.RefuseRequest(ctx, message, failure)
	}
	if answer == nil || asked.Shape() != wire.KindRequest {
		return nil
	}
	answer, recorded := s.finish(ctx, answer, &asked)
	if recorded {
		return answer
	}
	return s.b.SealAnswer(ctx, message, answer)
}

// answer lets mcp-go answer, and survives it.
func (s *Server) answer(ctx context.Context, message json.RawMessage) (out []byte, failure *candor.Error) {
	defer func() {
		if v := recover(); v != nil {
			out, failure = nil, s.b.Recovered(v)
		}
	}()
	answer := s.inner.HandleMessage(ctx, message)
	if answer == nil {
		return nil, nil
	}
	raw, err := s.b.Encode(answer)
	if err != nil {
		return nil, candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyServer, false), candor.WithCause(err))
	}
	return raw, nil
}

// finish completes an answer of mcp-go: a result that says isError and has not passed the middleware is recorded, the rpc dialect is
// written, the extension is announced, and the refusal of an unknown tool names similar ones. It reports whether the answer tells of a
// failure that has been recorded.
func (s *Server) finish(ctx context.Context, answer []byte, asked *wire.Message) (out []byte, recorded bool) {
	m := wire.Parse(answer, wire.Limits{AllowLoneSurrogates: true})
	if m.Shape() != wire.KindResult {
		return s.finishError(ctx, &m, asked)
	}
	result := m.Result().Raw()
	switch method := string(asked.Method()); {
	case method == "initialize" || method == "server/discover":
		return response(asked.ID(), s.b.Announce(result)), false
	case method != "tools/call":
		return answer, false
	}
	if failed, _ := m.Result().Path("isError").Bool(); !failed {
		return answer, false
	}
	e := boundary.FailedEnvelope(result)
	if e == nil {
		name, _ := asked.Params().Path("name").Str()
		call := boundary.Call{Tool: name, Arguments: asked.Params().Path("arguments").Raw()}
		if t := s.inner.GetTool(name); t != nil {
			call.Repeatable = schemasOf(t.Tool).repeatable
		}
		result, e = s.b.FailCall(ctx, call, nil, result)
	}
	if d := s.o.Dialect; d != nil && d.Carrier() == dialect.CarrierRPCError {
		return d.Write(nil, e, dialect.Options{ID: asked.ID(), Response: true, Stack: s.o.Stack}), true
	}
	return response(asked.ID(), result), true
}

// finishError answers the call of an unknown tool with the names that were probably meant. Any other error is returned as it is.
func (s *Server) finishError(ctx context.Context, m, asked *wire.Message) (out []byte, recorded bool) {
	text, _ := m.Error().Path("message").Str()
	if !asked.MethodIs("tools/call") || !strings.HasSuffix(text, server.ErrToolNotFound.Error()) {
		return m.Bytes(), false
	}
	name, _ := asked.Params().Path("name").Str()
	known := slices.Sorted(maps.Keys(s.inner.ListTools()))
	return s.b.RefuseRequest(ctx, asked.Bytes(), teach.UnknownTool(name, known, candor.PartyServer)), true
}

// complete adds what protocol version 2026-07-28 wants of every result.
func (s *Server) complete(result json.RawMessage, asked *wire.Message) json.RawMessage {
	version, _ := asked.Params().Path("_meta", versionKey).Str()
	if version < newEra {
		return result
	}
	out, err := splice.SetMember(nil, result, []string{"resultType"}, []byte(`"complete"`))
	if err != nil {
		return result
	}
	return out
}

const (
	versionKey = "io.modelcontextprotocol/protocolVersion"
	newEra     = "2026-07-28"
)

func response(id wire.ID, result []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"result":`...), result...), '}')
}

// Package mcpgo makes an MCP server built on mark3labs/mcp-go report every failure as one readable, typed error with retry advice,
// as package boundary does for the official SDK. Each failure is recorded before it is sent, and counted once.
//
// # How do I use it?
//
//	s := mcpgo.Wrap(server.NewMCPServer("name", "1.0"), boundary.Options{Ledger: trail, Meter: counts})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// [Wrap] covers a whole server, over [Server.ServeStdio] and [Server.HTTP]. [Middleware] alone covers the failures of tools, but not the
// errors that mcp-go answers itself.
//
// # What are its limits?
//
//   - Over stdio, mcp-go does not answer a prompt or resource request if its result cannot be encoded.
//   - Over HTTP, failures of tools are always results, also with the rpc dialect.
//   - Do not use mcp-go's WithInputSchemaValidation: it answers before this package sees the call, and over HTTP its refusals are not
//     recorded. This package checks the arguments itself.
package mcpgo

import (
	"context"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/boundary"
)

// Server is an mcp-go server behind a boundary. It is safe for concurrent use.
type Server struct {
	inner *server.MCPServer
	b     *boundary.Boundary
	o     boundary.Options
}

// Wrap adds a boundary to a server. Call it once, after the server's other tool middleware was added, so that the boundary sees the
// failures of that middleware, and serve through the returned [Server].
func Wrap(s *server.MCPServer, o boundary.Options) *Server {
	if o.Tools == nil {
		o.Tools = func(context.Context) []string { return slices.Sorted(maps.Keys(s.ListTools())) }
	}
	b := boundary.New(o)
	s.Use(guard{b}.tool)
	return &Server{inner: s, b: b, o: o}
}

// HTTP returns a handler that serves the server over streamable HTTP, with mcp-go's options, wrapped by [boundary.Boundary.HTTP]. It
// does not announce or answer sys/errorStats.
func (s *Server) HTTP(options ...server.StreamableHTTPOption) http.Handler {
	return s.b.HTTP(server.NewStreamableHTTPServer(s.inner, options...))
}

// ServeStdio serves a client over two streams of lines, usually os.Stdin and os.Stdout; see [boundary.Boundary.ServeLines]. mcp-go has
// one stdio session per process, so do not serve two at the same time.
func (s *Server) ServeStdio(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	return s.b.ServeLines(ctx, r, w, func(ctx context.Context, in io.Reader, out io.Writer) error {
		stdio := server.NewStdioServer(s.inner)
		stdio.SetErrorLogger(s.log())
		return stdio.Listen(ctx, in, out)
	})
}

func (s *Server) log() *log.Logger {
	l := s.o.Logger
	if l == nil {
		l = slog.Default()
	}
	return slog.NewLogLogger(l.Handler(), slog.LevelError)
}

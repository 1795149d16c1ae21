package mcpgo

import (
	"bytes"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/wire"
)

// HTTP returns a handler that serves the server over streamable HTTP, with mcp-go's options, wrapped by [boundary.Boundary.HTTP].
func (s *Server) HTTP(options ...server.StreamableHTTPOption) http.Handler {
	return s.b.HTTP(s.stats(server.NewStreamableHTTPServer(s.inner, options...)))
}

// stats answers sys/errorStats, which mcp-go cannot register. The outer layer has limited the size of the body and checked that it is
// a message.
func (s *Server) stats(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if m := wire.Parse(body, wire.Limits{AllowLoneSurrogates: true}); m.MethodIs(boundary.StatsMethod) && m.Shape() == wire.KindRequest {
			if stats, ok := s.a.Stats(m.Params().Raw()); ok {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(response(m.ID(), stats)) // the client may have disconnected
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

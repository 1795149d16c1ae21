package harnesscmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
)

// healthTimeout bounds the time that a client of the health endpoint may take to send its request.
const healthTimeout = 10 * time.Second

// listenHealth opens the port of the health endpoint; nil if there is to be none.
func (c *harnessCommand) listenHealth(cmd *cobra.Command) (net.Listener, error) {
	if c.settings.HealthPort < 0 {
		return nil, nil //nolint:nilnil // no endpoint is a choice
	}
	listener, err := new(net.ListenConfig).Listen(term.Context(cmd.Context()), "tcp", fmt.Sprintf("127.0.0.1:%d", c.settings.HealthPort))
	if err != nil {
		return nil, term.BadInput("choose another port, or 0 for any free one", "%s: %s", harness.EnvHealthPort, err)
	}
	c.W.Notify(cmd, "health on http://"+listener.Addr().String()+"/healthz", "")
	return listener, nil
}

// serveHealth serves the health endpoint until ctx ends. A nil listener serves nothing.
func serveHealth(ctx context.Context, listener net.Listener, h *harness.Harness) {
	if listener == nil {
		return
	}
	server := &http.Server{
		Handler: h.HealthHandler(), ReadTimeout: healthTimeout, WriteTimeout: 2 * healthTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // the process ends, and no request is worth waiting for
	go func() { _ = server.Serve(listener) }()            // returns when the server is closed
}

package gatewaycmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// Servers returns the state of the upstreams for the console.
func (s *server) Servers(context.Context) []console.ServerState {
	var states []console.ServerState
	for _, u := range s.status().Upstreams {
		states = append(states, serverState(u.Name, string(u.Mode), &u.Health))
	}
	return states
}

func serverState(name, mode string, h *gateway.Health) console.ServerState {
	state := console.ServerState{
		Name: name, Mode: mode, Calls: h.Calls, Open: uint64(max(0, h.Open)), Late: h.Late, Breaker: h.Breaker.State, Wasted: h.WastedRetries, //nolint:gosec // not negative
		FailureShare: h.FailureShare, MaskedShare: h.MaskedShare, Latency: [3]float64{h.Recent.P50, h.Recent.P90, h.Recent.P99},
	}
	if h.Process != nil {
		state.Restarts = h.Process.Restarts
	}
	return state
}

// profile returns the profile of an upstream, to which the console writes rules.
func (s *server) profile(server string) (file, next string, err error) {
	for _, u := range s.routes.Load().file.Upstreams {
		if u.Name == server && u.Profile != "" {
			return u.Profile, "The rule comes into force when the gateway reads its configuration again, which it does by itself unless the file has watch: false.", nil
		}
	}
	return "", "", fmt.Errorf("the configuration of %s names no profile (hint: add profile: FILE to it)", server)
}

// closeListeners is for a gateway that does not serve.
func (s *server) closeListeners() error {
	err := s.clients.Close()
	if s.admin != nil {
		err = errors.Join(err, s.admin.Close())
	}
	return err
}

// wrappedServer is the one server of candor wrap.
type wrappedServer struct{ up *gateway.Upstream }

// Servers returns its state for the console.
func (w wrappedServer) Servers(context.Context) []console.ServerState {
	h := w.up.Health()
	return []console.ServerState{serverState(w.up.Name(), string(w.up.Options.Mode), &h)}
}

// startConsole starts the console of candor wrap. A port in use does not keep the server from starting: several servers of a client
// may be configured alike, and one console shows the failures of all.
func (c *wrapCommand) startConsole(ctx context.Context, p *service.Sinks, up *gateway.Upstream) (*consolecmd.Running, error) {
	known := consolecmd.Sources{Servers: wrappedServer{up}}
	if c.profile != "" {
		known.Profiles = func(string) (string, string, error) {
			return c.profile, "The rule comes into force when candor wrap is started again.", nil
		}
	}
	running, err := c.console.Start(ctx, p, known)
	if errors.Is(err, consolecmd.ErrInUse) {
		p.Log.Warn("the console was not started", slog.Any("error", err))
		return nil, nil //nolint:nilnil // Close accepts it
	}
	return running, err
}

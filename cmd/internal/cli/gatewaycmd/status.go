package gatewaycmd

import (
	"cmp"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// GatewayStatus is the state of a running gateway. The member names are part of the output format of --json and /status.
type GatewayStatus struct {
	Version   string           `json:"version"`
	Started   time.Time        `json:"started"`
	Draining  bool             `json:"draining"`
	Config    configStatus     `json:"config"`
	Ledger    *ledgerStatus    `json:"ledger,omitempty"` // nil with --ledger none
	Upstreams []upstreamStatus `json:"upstreams"`
}

// ledgerStatus describes what the gateway has written to the ledger.
type ledgerStatus struct {
	Folder     string `json:"folder"`
	Recorded   uint64 `json:"recorded"`   // entries
	Unrecorded uint64 `json:"unrecorded"` // entries that could not be written

	Shipping *ship.Stats `json:"shipping,omitempty"` // nil if the ledger is not shipped to a store
}

type upstreamStatus struct {
	Name          string                        `json:"name"`
	Mode          gateway.Mode                  `json:"mode"`
	Validate      gateway.Validation            `json:"validate"`
	ValidateTools map[string]gateway.Validation `json:"validateTools,omitempty"`
	Health        gateway.Health                `json:"health"`
}

// statusPage writes the state of the gateway.
func (s *server) statusPage(w http.ResponseWriter, _ *http.Request) {
	text, err := term.MarshalJSON(s.status())
	if err != nil {
		http.Error(w, "the response could not be written", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(text, '\n')) // the client may have disconnected
}

func (s *server) status() GatewayStatus {
	f := s.routes.Load()
	out := GatewayStatus{Version: term.ReadBuildInfo().Version, Started: s.started.UTC(), Draining: s.draining.Load(), Config: *s.config.Load(), Upstreams: []upstreamStatus{}}
	if s.p.Ledger != nil {
		counts := s.p.Ledger.Stats()
		out.Ledger = &ledgerStatus{Folder: s.p.Dir, Recorded: counts.Appended, Unrecorded: counts.Failed}
		if s.p.Ship != nil {
			shipping := s.p.Ship.Stats()
			out.Ledger.Shipping = &shipping
		}
	}
	for _, u := range f.file.Upstreams {
		o := u.Options
		out.Upstreams = append(out.Upstreams, upstreamStatus{
			Name: u.Name, Mode: cmp.Or(o.Mode, gateway.ModeAnnotate), Validate: cmp.Or(o.Validate, gateway.ValidationLenient),
			ValidateTools: o.ValidateTools, Health: f.health(u.Name),
		})
	}
	return out
}

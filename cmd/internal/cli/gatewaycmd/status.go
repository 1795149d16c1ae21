package gatewaycmd

import (
	"net/http"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// GatewayStatus is the state of a running gateway. The member names are part of the output format of --json, /status and /api/v1/status.
type GatewayStatus struct {
	Version   string           `json:"version"`
	Started   time.Time        `json:"started"`
	Draining  bool             `json:"draining"`
	Config    configStatus     `json:"config"`
	Ledger    *ledgerStatus    `json:"ledger,omitempty"` // nil with --ledger none
	Share     *share.Status    `json:"share,omitempty"`  // nil without share
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
	Name          string              `json:"name"`
	Mode          string              `json:"mode"`
	Validate      string              `json:"validate"`
	ValidateTools map[string]string   `json:"validateTools,omitempty"`
	Calls         uint64              `json:"calls"`
	Open          uint64              `json:"open"`
	Late          uint64              `json:"late"`
	Health        gateway.Health      `json:"health"`
	Tolerances    []gateway.Tolerance `json:"tolerances"`
}

// statusPage writes the state of the gateway.
func (s *server) statusPage(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.status())
}

func (s *server) status() GatewayStatus {
	f := s.routes.Load()
	out := GatewayStatus{Version: term.ReadBuildInfo().Version, Started: s.started.UTC(), Draining: s.draining.Load(), Config: *s.config.Load(), Share: shareStatus(s.group), Upstreams: []upstreamStatus{}}
	if s.p.Ledger != nil {
		counts := s.p.Ledger.Stats()
		out.Ledger = &ledgerStatus{Folder: s.p.Dir, Recorded: counts.Appended, Unrecorded: counts.Failed + counts.Unrecorded}
		if s.p.Ship != nil {
			shipping := s.p.Ship.Stats()
			out.Ledger.Shipping = &shipping
		}
	}
	for _, u := range f.file.Upstreams {
		out.Upstreams = append(out.Upstreams, f.upstreamStatus(u))
	}
	return out
}

func (f *routes) upstreamStatus(u config.Upstream) upstreamStatus {
	settings, sum, all := upstreamSettingsOf(u), f.totals()[u.Name], f.upstreams(u.Name)
	return upstreamStatus{
		Name: u.Name, Mode: settings.Mode, Validate: settings.Validate, ValidateTools: settings.ToolChecks,
		Calls: sum.calls, Open: sum.open, Late: sum.late, Health: gateway.HealthOf(f.closed[u.Name], all...), Tolerances: gateway.Tolerances(all...),
	}
}

// upstreams returns the upstreams with that name, the newest first: an upstream has several endpoints while calls from before a reload
// are open.
func (f *routes) upstreams(name string) []*gateway.Upstream {
	var all []*gateway.Upstream
	if d := f.endpoints[name]; d != nil {
		all = append(all, d.up)
	}
	for _, d := range slices.Backward(f.retired[name]) {
		all = append(all, d.up)
	}
	return all
}

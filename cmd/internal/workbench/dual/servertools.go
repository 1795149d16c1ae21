package dual

import (
	"context"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type noArgs struct{}

func (s *System) serverPing() workbench.Tool {
	return workbench.Tool{
		Name: "server_ping", Title: "Ping", About: "Answer at once, to check that the server works.", ReadOnly: true, Idempotent: true,
		Run: handle(func(context.Context, *workbench.Call, noArgs) (any, error) {
			return map[string]any{"pong": true, "time": s.now().UTC().Format(time.RFC3339Nano), "uptime_ms": s.now().Sub(s.begun).Milliseconds()}, nil
		}),
	}
}

// health is the result of server_health.
type health struct {
	Status     string           `json:"status"` // ok, or degraded if records are not attested yet
	Version    string           `json:"version"`
	UptimeMs   int64            `json:"uptime_ms"`
	Access     Access           `json:"access"`
	Tools      int              `json:"tools"`
	Tables     map[string]int64 `json:"db_tables"`
	Ledger     bool             `json:"ledger"`
	Unattested int64            `json:"unattested_records"`
	Upstreams  int              `json:"upstreams"`
}

func (s *System) serverHealth() workbench.Tool {
	return workbench.Tool{
		Name: "server_health", Title: "Health", About: "Return the version, the access and the number of database rows of the server.", ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, c *workbench.Call, _ noArgs) (any, error) {
			h := health{Status: "ok", Version: s.o.Version, UptimeMs: s.now().Sub(s.begun).Milliseconds(), Access: s.o.Access, Tools: ToolCount,
				Ledger: c.Bench().Ledger() != "", Upstreams: len(s.o.Upstreams)}
			err := s.store.View(ctx, func(tx *store.Tx) (err error) {
				if h.Tables, err = tx.Tables(); err != nil {
					return err
				}
				h.Unattested, err = tx.CountUnattested()
				return err
			})
			if h.Ledger && h.Unattested > 0 {
				h.Status = "degraded"
			}
			return h, err
		}),
	}
}

package harness

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// Report is the state of a harness for operators.
type Report struct {
	Status   string                   `json:"status"` // "ok", or "degraded" if a domain cannot work
	Server   string                   `json:"server,omitempty"`
	Methods  []string                 `json:"methods"`
	UptimeMs int64                    `json:"uptimeMs"`
	Domains  map[string]domain.Health `json:"domains"`
}

// healthTimeout is the total time for all domains to report.
const healthTimeout = 5 * time.Second

// Report collects the health of every domain.
func (h *Harness) Report(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r := Report{
		Status: "ok", Server: h.settings.ServerName, UptimeMs: time.Since(h.started).Milliseconds(), Domains: map[string]domain.Health{},
	}
	for _, m := range h.server.Methods() {
		r.Methods = append(r.Methods, m.Name)
	}
	for i := range h.domains {
		health := healthOf(ctx, h.domains[i])
		if !health.OK {
			r.Status = "degraded"
		}
		r.Domains[h.domains[i].Name] = health
	}
	return r
}

func healthOf(ctx context.Context, d domain.Domain) domain.Health {
	if d.Health == nil {
		return domain.Health{OK: true}
	}
	return d.Health(ctx)
}

// HealthHandler serves GET /healthz and GET /metrics to programs on this machine. It refuses web pages: a page whose
// name resolves to this machine sends its own name as the host.
func (h *Harness) HealthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.serveHealth)
	mux.HandleFunc("GET /metrics", h.serveMetrics)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard := httpguard.Guard{}
		if !guard.KnowsHost(r.Host) || !guard.KnowsOrigin(r) {
			http.Error(w, "this endpoint serves only programs on the same machine", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// serveHealth always answers 200: a domain with a missing requirement does not make the process unhealthy.
func (h *Harness) serveHealth(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(h.Report(r.Context()))
	if err != nil {
		http.Error(w, "the report could not be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // an error means that the client has disconnected
}

func (h *Harness) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	body, err := prom.Text(h.meter)
	if err != nil {
		http.Error(w, "the counters could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", prom.ContentType)
	_, _ = w.Write([]byte(body)) // an error means that the client has disconnected
}

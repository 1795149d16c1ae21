package gatewaycmd

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/bridge"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// routes has the endpoints of one configuration. It is immutable: a reload makes new routes.
type routes struct {
	file      *config.File
	endpoints map[string]*Endpoint // by name
	// retired are endpoints of earlier configurations, by name: calls and legacy sessions that began there continue there.
	retired map[string][]*Endpoint
}

// Endpoint serves one upstream with fixed settings.
type Endpoint struct {
	settings config.Upstream
	up       *gateway.Upstream
	Handler  keeper
}

// keeper is the handler of an endpoint. Keeps reports whether a request belongs to a session that only this handler can serve: a
// handler that is replaced continues to serve those.
type keeper interface {
	http.Handler
	Keeps(r *http.Request) bool
}

// MaxRetired is the number of retired endpoints that are kept per name.
const MaxRetired = 8

// newRoutes opens the endpoints of a file. An endpoint with unchanged settings is reused, with its state.
func newRoutes(p *service.Sinks, file *config.File, before *routes) *routes {
	f := &routes{file: file, endpoints: map[string]*Endpoint{}, retired: map[string][]*Endpoint{}}
	for _, u := range file.Upstreams {
		if before != nil && before.endpoints[u.Name] != nil && reflect.DeepEqual(before.endpoints[u.Name].settings, u) {
			f.endpoints[u.Name] = before.endpoints[u.Name]
			continue
		}
		f.endpoints[u.Name] = OpenEndpoint(p, u, file.Environ(&u, os.Environ()))
	}
	if before != nil {
		f.retire(before)
	}
	return f
}

// OpenEndpoint makes an endpoint. It connects or starts the server at the first request.
func OpenEndpoint(p *service.Sinks, u config.Upstream, environ []string) *Endpoint {
	options := p.Attach(u.Options)
	up := gateway.New(options)
	d := &Endpoint{settings: u, up: up}
	if u.URL != nil {
		d.Handler = httpgate.New(up, u.URL, u.HTTP)
		return d
	}
	child := stdio.Child{
		Command: u.Command[0], Args: u.Command[1:], Dir: u.Dir, Env: environ, Guard: term.GuardCommand(),
		Restart: stdio.RestartPolicy{Tries: u.Restart}, Stderr: &service.LogLines{Log: p.Log, Name: up.Name}, RedactStderr: true,
	}
	d.Handler = bridge.New(up, child, bridge.Options{HTTP: u.HTTP, Shared: u.Shared})
	return d
}

// Close stops the servers of the endpoint.
func (d *Endpoint) Close(ctx context.Context) error {
	if b, ok := d.Handler.(*bridge.Bridge); ok {
		return b.Close(ctx)
	}
	return nil
}

// retire keeps the endpoints that are no longer configured, up to MaxRetired per name.
func (f *routes) retire(before *routes) {
	for name, old := range before.retired {
		f.retired[name] = slices.Clone(old)
	}
	for name, d := range before.endpoints {
		if f.endpoints[name] == d {
			continue
		}
		f.retired[name] = append(f.retired[name], d)
		if old := f.retired[name]; len(old) > MaxRetired {
			f.retired[name] = old[1:]
			go old[0].Close(context.Background()) //nolint:errcheck // its clients have left
		}
	}
}

// all returns all endpoints, retired ones included.
func (f *routes) all() []*Endpoint {
	endpoints := slices.Collect(maps.Values(f.endpoints))
	for _, old := range f.retired {
		endpoints = append(endpoints, old...)
	}
	return endpoints
}

// names returns the names of all upstreams, retired ones included.
func (f *routes) names() []string {
	all := map[string]bool{}
	for _, d := range f.all() {
		all[d.settings.Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// health returns the health of an upstream, retired endpoints included.
func (f *routes) health(name string) gateway.Health {
	var all []*gateway.Upstream // the newest first: there are several while calls from before a reload are open
	if d := f.endpoints[name]; d != nil {
		all = append(all, d.up)
	}
	for _, d := range slices.Backward(f.retired[name]) {
		all = append(all, d.up)
	}
	return gateway.HealthOf(all...)
}

// calls returns the number of calls, and open the number of those that have not ended.
func (f *routes) calls() (n uint64) {
	for _, name := range f.names() {
		n += f.health(name).Calls
	}
	return n
}

func (f *routes) open() (n int) {
	for _, d := range f.all() {
		n += d.up.Open()
	}
	return n
}

// find returns the endpoint for a request, or nil.
func (f *routes) find(r *http.Request) *Endpoint {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if len(f.file.Upstreams) == 1 && name == "mcp" && f.endpoints[name] == nil {
		name = f.file.Upstreams[0].Name
	}
	for _, old := range f.retired[name] {
		if old.Handler.Keeps(r) {
			return old
		}
	}
	return f.endpoints[name]
}

var problem = dialect.Must("problem")

// writeNoUpstream responds to a request with a path of no upstream.
func writeNoUpstream(w http.ResponseWriter, log *slog.Logger) {
	e := candor.New(candor.CodeNotFound, "There is no upstream at this path.", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithSuggestion("Use the path /NAME/ with the name of an upstream in the gateway's configuration."),
		candor.WithRef(ref.New()), candor.WithTime(time.Now()))
	log.Debug("no upstream at the path of a request", slog.String("ref", e.Ref()))
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(problem.Write(nil, e, dialect.Options{})) // the client may have disconnected
}

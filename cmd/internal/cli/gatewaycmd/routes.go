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
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
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
	removed map[string]totals         // counts of closed endpoints, by name
	closed  map[string]gateway.Health // their health when they were closed
}

// totals are the counts of one or more endpoints.
type totals struct{ calls, open, late, breakers, wasted, restarts uint64 }

func (t totals) plus(u *gateway.Upstream) totals {
	return t.add(totals{
		calls: u.Calls(), open: uint64(max(0, u.Open())), late: u.Late(), //nolint:gosec // not negative
		breakers: uint64(max(0, u.OpenBreakers())), wasted: u.WastedRetries(), restarts: u.Restarts(), //nolint:gosec // not negative
	})
}

func (t totals) add(o totals) totals {
	return totals{t.calls + o.calls, t.open + o.open, t.late + o.late, t.breakers + o.breakers, t.wasted + o.wasted, t.restarts + o.restarts}
}

// ended returns the counts without those that describe the present.
func (t totals) ended() totals {
	t.open, t.breakers = 0, 0
	return t
}

// Endpoint serves one upstream with fixed settings.
type Endpoint struct {
	settings config.Upstream
	up       *gateway.Upstream
	Handler  keeper
}

// keeper is the handler of an endpoint.
type keeper interface {
	http.Handler
	httpgate.Keeper
}

// MaxRetired is the number of retired endpoints that are kept per name.
const MaxRetired = 8

// newRoutes opens the endpoints of a file. An endpoint whose settings did not change is reused, with its state.
func newRoutes(p *service.Sinks, group *share.Group, file *config.File, before *routes) *routes {
	f := &routes{file: file, endpoints: map[string]*Endpoint{}, retired: map[string][]*Endpoint{}, removed: map[string]totals{}, closed: map[string]gateway.Health{}}
	for _, u := range file.Upstreams {
		if before != nil && before.endpoints[u.Name] != nil && reflect.DeepEqual(before.endpoints[u.Name].settings, u) {
			f.endpoints[u.Name] = before.endpoints[u.Name]
			continue
		}
		f.endpoints[u.Name] = OpenEndpoint(p, u, sharedUpstream(group, u), ForeignSecrets(file, u))
	}
	if before != nil {
		f.retire(before)
	}
	return f
}

// OpenEndpoint makes an endpoint. It connects or starts the server at the first request. Shared is nil unless other gateways hear about
// failures of the server.
func OpenEndpoint(p *service.Sinks, u config.Upstream, shared *share.Upstream, withheld map[string]bool) *Endpoint {
	options := p.Attach(u.Options)
	options.Shared = shared
	up := gateway.New(options)
	d := &Endpoint{settings: u, up: up}
	if u.URL != nil {
		d.Handler = httpgate.New(up, u.URL, u.HTTP)
		return d
	}
	child := stdio.Child{
		Command: u.Command[0], Args: u.Command[1:], Dir: u.Dir, Env: append(environment(withheld), u.Env...), Guard: term.GuardCommand(),
		Restart: stdio.RestartPolicy{Tries: u.Restart}, Stderr: &service.LogLines{Log: p.Log, Name: up.Name}, RedactStderr: true,
	}
	d.Handler = bridge.New(up, child, bridge.Options{HTTP: u.HTTP, Shared: u.Shared})
	return d
}

// ForeignSecrets returns the variables that are withheld from a server started for u: the tokens for clients and for changes, and the variables to
// which only other upstreams refer.
func ForeignSecrets(file *config.File, u config.Upstream) map[string]bool {
	names := map[string]bool{}
	for _, other := range file.Upstreams {
		for _, name := range other.Secrets {
			names[name] = true
		}
	}
	for _, name := range u.Secrets {
		delete(names, name)
	}
	for _, name := range []string{file.TokenEnv, file.AdminTokenEnv, file.ShareKeyEnv} {
		if name != "" {
			names[name] = true
		}
	}
	return names
}

// environment returns the environment of this process without some variables.
func environment(without map[string]bool) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return without[name]
	})
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
	f.removed, f.closed = maps.Clone(before.removed), maps.Clone(before.closed)
	for name, old := range before.retired {
		f.retired[name] = slices.Clone(old)
	}
	for name, d := range before.endpoints {
		if f.endpoints[name] == d {
			continue
		}
		f.retired[name] = append(f.retired[name], d)
		if old := f.retired[name]; len(old) > MaxRetired {
			f.removed[name] = f.removed[name].plus(old[0].up).ended()
			f.closed[name] = gateway.HealthOf(f.closed[name], old[0].up)
			f.retired[name] = old[1:]
			go old[0].Close(context.Background()) //nolint:errcheck // its clients are gone
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

// totals returns the counts of each upstream since the start: a counter never decreases when an endpoint is closed.
func (f *routes) totals() map[string]totals {
	sums := maps.Clone(f.removed)
	for _, d := range f.all() {
		name := d.settings.Name
		sum := sums[name].plus(d.up)
		if f.endpoints[name] != d { // no new calls reach it, so its breaker would never close
			sum.breakers = sums[name].breakers
		}
		sums[name] = sum
	}
	return sums
}

// total returns the counts of all upstreams together.
func (f *routes) total() (sum totals) {
	for _, t := range f.totals() {
		sum = sum.add(t)
	}
	return sum
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

// writeNoUpstream responds to a request whose path matches no upstream.
func writeNoUpstream(w http.ResponseWriter, log *slog.Logger) {
	e := candor.New(candor.CodeNotFound, "There is no upstream at this path.", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithSuggestion("Use the path /NAME/ with the name of an upstream in the gateway's configuration."),
		candor.WithRef(ref.New()), candor.WithTime(time.Now()))
	log.Debug("no upstream at the path of a request", slog.String("ref", e.Ref()))
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(problem.Write(nil, e, dialect.Options{})) // the client may have disconnected
}

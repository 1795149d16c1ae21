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
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// front is the doors as one file describes them. It is never changed: a new file is a new front.
type front struct {
	file  *config.File
	doors map[string]*Door // by name
	// retired are doors of earlier fronts, by name: calls and legacy sessions that began there go on there.
	retired map[string][]*Door
	gone    map[string]counted // of doors that were retired long ago, by name
}

// counted is what a door had counted when it was given up.
type counted struct{ calls, late uint64 }

// Door is the door to one upstream, with the settings it was made from.
type Door struct {
	settings config.Upstream
	up       *gateway.Upstream
	Handler  keeper
}

// keeper is what all doors are.
type keeper interface {
	http.Handler
	httpgate.Keeper
}

// MaxRetired bounds the doors of one name that are kept for those who came through them.
const MaxRetired = 8

// newFront opens the doors of a file. One whose settings are as before is the same as before, with all that it has learnt.
func newFront(p *service.Sinks, file *config.File, before *front) *front {
	f := &front{file: file, doors: map[string]*Door{}, retired: map[string][]*Door{}, gone: map[string]counted{}}
	for _, u := range file.Upstreams {
		if before != nil && before.doors[u.Name] != nil && reflect.DeepEqual(before.doors[u.Name].settings, u) {
			f.doors[u.Name] = before.doors[u.Name]
			continue
		}
		f.doors[u.Name] = OpenDoor(p, u, ForeignSecrets(file, u))
	}
	if before != nil {
		f.retire(before)
	}
	return f
}

// OpenDoor makes a door. Nothing is connected to or started before a client asks.
func OpenDoor(p *service.Sinks, u config.Upstream, withheld map[string]bool) *Door {
	up := gateway.New(p.Attach(u.Options))
	d := &Door{settings: u, up: up}
	if u.URL != nil {
		d.Handler = httpgate.New(up, u.URL, u.HTTP)
		return d
	}
	child := stdio.Child{
		Command: u.Command[0], Args: u.Command[1:], Env: append(environment(withheld), u.Env...), Guard: term.GuardCommand(),
		Restart: stdio.RestartPolicy{Tries: u.Restart}, Stderr: &service.LogLines{Log: p.Log, Name: u.Name}, RedactStderr: true,
	}
	d.Handler = bridge.New(up, child, bridge.Options{HTTP: u.HTTP, Shared: u.Shared})
	return d
}

// ForeignSecrets returns the variables that a server which is started for u does not get: the token, which is for clients, and what only
// the settings of other upstreams refer to.
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
	if file.TokenEnv != "" {
		names[file.TokenEnv] = true
	}
	return names
}

// environment is that of this program without some variables.
func environment(without map[string]bool) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return without[name]
	})
}

// Close ends what the door has started.
func (d *Door) Close(ctx context.Context) error {
	if b, ok := d.Handler.(*bridge.Bridge); ok {
		return b.Close(ctx)
	}
	return nil
}

// retire keeps the doors of the front before that are not in this one, but not for ever.
func (f *front) retire(before *front) {
	f.gone = maps.Clone(before.gone)
	for name, old := range before.retired {
		f.retired[name] = slices.Clone(old)
	}
	for name, d := range before.doors {
		if f.doors[name] == d {
			continue
		}
		f.retired[name] = append(f.retired[name], d)
		if old := f.retired[name]; len(old) > MaxRetired {
			had := f.gone[name]
			f.gone[name] = counted{calls: had.calls + old[0].up.Calls(), late: had.late + old[0].up.Late()}
			f.retired[name] = old[1:]
			go old[0].Close(context.Background()) //nolint:errcheck // it ends by itself, and nobody is left to be told
		}
	}
}

// all returns every door, retired ones included.
func (f *front) all() []*Door {
	doors := slices.Collect(maps.Values(f.doors))
	for _, old := range f.retired {
		doors = append(doors, old...)
	}
	return doors
}

// find returns the door that a request is for, nil if there is none.
func (f *front) find(r *http.Request) *Door {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if len(f.file.Upstreams) == 1 && name == "mcp" && f.doors[name] == nil {
		name = f.file.Upstreams[0].Name
	}
	for _, old := range f.retired[name] {
		if old.Handler.Keeps(r) {
			return old
		}
	}
	return f.doors[name]
}

var problem = mustLookup("problem")

func mustLookup(name string) dialect.Dialect {
	d, err := dialect.Lookup(name)
	if err != nil {
		panic(err) //nolint:forbidigo // the name is a literal
	}
	return d
}

// noDoor refuses a request whose path leads to no upstream.
func noDoor(w http.ResponseWriter, log *slog.Logger) {
	e := candor.New(candor.CodeNotFound, "There is no upstream at this path.", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithSuggestion("Use the path /NAME/ with the name of an upstream in the gateway's configuration."),
		candor.WithRef(ref.New()), candor.WithTime(time.Now()))
	log.Debug("no upstream at the path of a request", slog.String("ref", e.Ref()))
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(problem.Write(nil, e, dialect.Options{})) // who does not wait for it cannot be told
}

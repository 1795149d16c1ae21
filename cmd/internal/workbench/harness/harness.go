// Package harness assembles the JSON-RPC harness: the enabled domains, the engine that runs their methods, and the two
// ways to serve them, as lines of JSON-RPC and as an MCP server. Both use [line.Server.Call], so that a method has the
// same outcome in both.
//
// A new domain is a package that returns a [domain.Domain] and one entry in the registry of this package.
package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/line"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/meter"
)

// Options configures a [Harness].
type Options struct {
	Settings    Settings
	Environment domain.Environment
	Meter       *meter.Meter   // counts failures; required
	Recorder    candor.Ledger  // records failures in line mode; nil records nothing
	Tracer      line.Tracer    // observes calls in line mode; nil observes nothing
	Level       *slog.LevelVar // set by sys/setLogLevel; nil omits that method
}

// Harness is a set of domains that can be served. Close it after the last Serve has returned.
type Harness struct {
	settings Settings
	meter    *meter.Meter
	server   *line.Server
	domains  []domain.Domain
	methods  map[string]string // by tool name; filled by Describe
	started  time.Time
}

// Open opens the enabled domains. It fails if a variable of one of them is invalid, but not if a program or service is
// missing.
func Open(o Options) (h *Harness, err error) {
	h = &Harness{settings: o.Settings, meter: o.Meter, methods: map[string]string{}, started: time.Now()}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	o.Environment.Read = h.read
	var off []line.Disabled
	for i := range registry {
		k := &registry[i]
		if !o.Settings.on(k.name) {
			off = append(off, line.Disabled{Prefix: k.prefix, Hint: k.hint()})
			continue
		}
		d, err := k.open(o.Environment)
		if err != nil {
			return h, err
		}
		h.domains = append(h.domains, d)
	}
	h.server, err = line.New(h.domains, line.Options{
		Name: o.Settings.ServerName, Logger: o.Environment.Logger, Level: o.Level, Recorder: o.Recorder, Tracer: o.Tracer,
		Meter: o.Meter, ErrorStats: o.Settings.Metrics, RateLimit: o.Settings.RateLimit, MaxLine: o.Settings.MaxLine,
		Stack: o.Settings.Stack, Development: o.Settings.Development, Disabled: off,
	})
	return h, err
}

// read returns a file of a domain that is on, such as fs/data.csv.
func (h *Harness) read(name string) ([]byte, error) {
	prefix, path, _ := strings.Cut(name, "/")
	for i := range h.domains {
		if d := &h.domains[i]; d.Read != nil && lookup(d.Name).prefix == prefix {
			return d.Read(path)
		}
	}
	return nil, domain.Fail(common.InvalidParams, fmt.Sprintf("files: %q does not begin with fs/ or mb/, or this domain is off", truncate.Text(name, 100)), nil)
}

// hint returns how to enable the domain.
func (k *known) hint() string {
	return fmt.Sprintf("the domain %s is off; the operator switches it on with --domain %s or %s", k.name, k.name, EnvDomains)
}

// Serve serves lines of JSON-RPC until in or ctx ends. It returns nil for both, and when the client closes the output.
func (h *Harness) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return h.server.Serve(ctx, in, out)
}

// Close closes the domains.
func (h *Harness) Close() error {
	var failed []error
	for i := range h.domains {
		if closeDomain := h.domains[i].Close; closeDomain != nil {
			if err := closeDomain(); err != nil {
				failed = append(failed, fmt.Errorf("closing the domain %s: %w", h.domains[i].Name, err))
			}
		}
	}
	h.domains = nil
	return errors.Join(failed...)
}

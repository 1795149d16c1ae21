// Package line is the engine of the harness: it runs the methods of domains, and serves them as line-delimited JSON-RPC
// 2.0.
//
// A [Server] is created from domains and [Options]. [Server.Call] runs one method for any transport: it validates the
// parameters, applies the rate limit and the deadline, and converts panics to errors. [Server.Serve] writes a ready
// line, reads requests from a stream, one per line, runs them in parallel and writes one line for each response, in the
// order in which they finish.
//
// Every failure is recorded, then counted, then sent. Failures of notifications, which JSON-RPC forbids to answer, are
// recorded and counted as suppressed.
//
// All memory is limited: the length of a line, the number of running calls, the bytes queued for a client that does not
// read. When a limit is reached the server stops reading, except that an overlong line is dropped and answered with
// E_LIMIT_EXCEEDED.
package line

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/meter"
)

// The defaults of [Options].
const (
	DefaultMaxLine   = 200_000
	DefaultMaxBatch  = 100
	DefaultMaxResult = 8 << 20
	DefaultTimeout   = 2 * time.Minute
	DefaultDrain     = 10 * time.Second
	DefaultParallel  = 64
)

// Options configures a [Server]. The zero value is safe.
type Options struct {
	Name   string         // in the ready line; omitted if empty
	Logger *slog.Logger   // nil is [slog.Default]
	Level  *slog.LevelVar // set by sys/setLogLevel; nil omits that method

	// Recorder gets every failure before it is sent by [Server.Serve]; nil records nothing.
	Recorder candor.Ledger
	// Tracer observes the calls of Serve; nil observes nothing.
	Tracer Tracer
	// Meter counts the failures that Serve sends; nil counts nothing and omits sys/promMetrics.
	Meter *meter.Meter
	// ErrorStats enables sys/errorStats, which needs a Meter.
	ErrorStats bool

	RateLimit RateLimit
	MaxLine   int           // bytes of a line
	MaxBatch  int           // requests in a batch
	MaxResult int           // bytes of an encoded result
	Timeout   time.Duration // of one call
	Drain     time.Duration // how long running calls may continue after the context of Serve has ended
	Parallel  int           // maximum number of concurrent calls

	Stack       candor.StackPolicy // MCP_ERRORS_VERBOSE
	Development bool               // clients see the text of causes

	// Disabled lists the domains that are disabled, so that a call gets E_UNSUPPORTED with a hint.
	Disabled []Disabled

	Now func() time.Time // nil is [time.Now]
}

// Disabled is a domain that is disabled.
type Disabled struct {
	Prefix string // of its methods, such as "kg"
	Hint   string // how to enable it
}

// Server runs the methods of domains. It may serve several streams at the same time.
type Server struct {
	o       Options
	methods map[string]*method
	names   []string // sorted
	list    []domain.Method
	ready   []byte
	ref     func() string

	global    bucket
	abandoned atomic.Int64 // calls that still run although they were answered at their deadline
}

// method is a registered method with its state.
type method struct {
	domain.Method
	domain string
	schema *schema.Schema
	exempt bool // from the rate limit
	bucket bucket

	refused       atomic.Pointer[refusal]
	calls, errors atomic.Uint64
}

// New returns a server for the methods of all domains and the sys methods that the options enable. It fails if two
// methods share a name or the parameters of one are not a valid schema.
func New(domains []domain.Domain, o Options) (*Server, error) {
	o.fill()
	if o.Stack.Wanted() {
		domain.KeepStacks()
	}
	s := &Server{o: o, methods: map[string]*method{}, ref: ref.New}
	for _, d := range append(slices.Clone(domains), s.sys()) {
		for _, m := range d.Methods {
			if err := s.add(d.Name, m); err != nil {
				return nil, fmt.Errorf("domain %s: %w", d.Name, err)
			}
		}
	}
	slices.Sort(s.names)
	for _, name := range s.names {
		s.list = append(s.list, s.methods[name].Method)
	}
	s.ready = s.appendReady(nil)
	o.Meter.SetTools(s.names...)
	return s, nil
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxLine, o.MaxBatch = cmp.Or(o.MaxLine, DefaultMaxLine), cmp.Or(o.MaxBatch, DefaultMaxBatch)
	o.MaxResult, o.Parallel = cmp.Or(o.MaxResult, DefaultMaxResult), cmp.Or(o.Parallel, DefaultParallel)
	o.Timeout, o.Drain = cmp.Or(o.Timeout, DefaultTimeout), cmp.Or(o.Drain, DefaultDrain)
}

func (s *Server) add(domainName string, m domain.Method) error {
	if _, exists := s.methods[m.Name]; exists || m.Name == "" || m.Run == nil {
		return fmt.Errorf("method %q: no name, no function, or registered twice", m.Name)
	}
	text, err := m.Schema()
	if err != nil {
		return err
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		return fmt.Errorf("method %s: input: %w", m.Name, err)
	}
	s.methods[m.Name] = &method{Method: m, domain: domainName, schema: compiled, exempt: strings.HasPrefix(m.Name, sysPrefix)}
	s.names = append(s.names, m.Name)
	return nil
}

// Methods returns all methods of the server, including sys, sorted by name.
func (s *Server) Methods() []domain.Method { return slices.Clone(s.list) }

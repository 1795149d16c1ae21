// Package line is the engine of the harness: it runs the methods of domains, and serves them as line-delimited JSON-RPC 2.0.
//
// A [Server] is made from domains and [Options]. [Server.Call] runs one method, whatever the transport: it checks the parameters,
// applies the rate limit and the deadline, and turns panics into errors. [Server.Serve] reads requests from a stream, one a line, runs
// them in parallel and writes one line for each response, in the order in which they finish. Before that it writes a ready line.
//
// Every failure is recorded, then counted, then sent. Those of notifications, which JSON-RPC forbids to answer, are recorded and
// counted as suppressed.
//
// All memory is bounded: the length of a line, the number of calls that run, the bytes that wait for a client that does not read. When
// a bound is reached the server stops reading, except that a line that is too long is dropped and answered with E_LIMIT_EXCEEDED.
package line

import (
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

// The values that zero [Options] stand for.
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
	Name   string         // in the ready line; empty leaves it out
	Logger *slog.Logger   // nil is [slog.Default]
	Level  *slog.LevelVar // set by sys/setLogLevel; nil leaves that method out

	// Recorder gets every failure before it is sent by [Server.Serve]; nil records nothing.
	Recorder candor.Ledger
	// Meter counts the failures that Serve sends; nil counts nothing and leaves sys/promMetrics out.
	Meter *meter.Meter
	// ErrorStats offers sys/errorStats, which needs a Meter.
	ErrorStats bool

	RateLimit RateLimit
	MaxLine   int           // bytes of a line
	MaxBatch  int           // requests in a batch
	MaxResult int           // bytes of an encoded result
	Timeout   time.Duration // of one call
	Drain     time.Duration // how long running calls may go on after the context of Serve has ended
	Parallel  int           // calls that run at the same time

	Stack       candor.StackPolicy // MCP_ERRORS_VERBOSE
	Development bool               // clients see the text of causes

	// Disabled lists domains that exist and are switched off, so that a call gets E_UNSUPPORTED with a hint.
	Disabled []Disabled

	Now func() time.Time // nil is [time.Now]
}

// Disabled is a domain that is switched off.
type Disabled struct {
	Prefix string // of its methods, such as "kg"
	Hint   string // how to switch it on
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
	rejected  method       // for messages that name no known method
	abandoned atomic.Int64 // calls that still run although they were answered at their deadline
}

// method is a registered method with its state.
type method struct {
	domain.Method
	domain string
	schema *schema.Schema
	exempt bool // from the rate limit
	bucket bucket

	calls, errors atomic.Uint64
	slow          atomic.Bool // the last call took long
}

// New returns a server of the methods of all domains and of the sys methods that the options allow. It fails if two methods share a
// name or the parameters of one are not a valid schema.
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
	for value, unset := range map[*int]int{
		&o.MaxLine: DefaultMaxLine, &o.MaxBatch: DefaultMaxBatch, &o.MaxResult: DefaultMaxResult, &o.Parallel: DefaultParallel,
	} {
		if *value <= 0 {
			*value = unset
		}
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Drain <= 0 {
		o.Drain = DefaultDrain
	}
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

// Methods returns all methods that the server runs, those of sys included, sorted by name.
func (s *Server) Methods() []domain.Method { return slices.Clone(s.list) }

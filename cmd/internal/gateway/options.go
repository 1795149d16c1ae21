package gateway

import (
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

// Mode says what the gateway may do to a failing answer.
type Mode string

// The modes.
const (
	ModeObserve  Mode = "observe"  // touch nothing; record and count; only lost calls are answered
	ModeAnnotate Mode = "annotate" // add the envelope and a readable block, keep the rest, clean secrets and control characters
	ModeStrict   Mode = "strict"   // withhold the upstream's own text; the ledger keeps it
)

// Modes returns all of them, the default first.
func Modes() []Mode { return []Mode{ModeAnnotate, ModeObserve, ModeStrict} }

// Valid reports whether m is one of [Modes].
func (m Mode) Valid() bool { return m == ModeObserve || m == ModeAnnotate || m == ModeStrict }

// Options says how a gateway treats one upstream. The zero value is good: annotate, no deadline but the default one, lenient validation,
// no retries, a breaker, bounded everything.
type Options struct {
	Name string // of the upstream, in logs and entries
	Mode Mode   // "" is annotate
	// Dialect is the shape of answers that the gateway makes itself; nil is candor.
	Dialect dialect.Dialect
	// Mirror repeats the envelope in structuredContent of those answers in the candor dialect, where the tool declares no outputSchema.
	Mirror bool
	// Speaks is the dialect of the upstream, "" if unknown. Its errors are always failures.
	Speaks string
	// Rules are made for this upstream: which answers are failures in disguise, and what codes its errors mean.
	Rules *Rules
	// Validate says which calls are refused because of their arguments; "" is lenient.
	Validate Validation
	// ValidateTools says so for single tools.
	ValidateTools map[string]Validation

	Timeout time.Duration // of a call; 0 is [DefaultTimeout], negative none. Progress extends it.
	// StartTimeout is how long initialize may take; 0 is [DefaultStartTimeout], negative none. Servers are often installed at their first start.
	StartTimeout time.Duration
	Timeouts     map[string]time.Duration // by tool
	Retry        RetryPolicy
	Breaker      BreakerPolicy
	Repeats      RepeatPolicy
	Limits       Limits

	Ledger candor.Ledger
	Meter  candor.Meter
	Logger *slog.Logger

	Now    func() time.Time
	NewRef func() string
}

// DefaultTimeout is the default timeout of a call.
const DefaultTimeout = 5 * time.Minute

// DefaultStartTimeout is the default timeout of initialize.
const DefaultStartTimeout = 2 * time.Minute

// Limits bounds what peers may make the gateway hold. A zero field stands for its default.
type Limits struct {
	Message wire.Limits // one frame: 16 MiB, 128 deep
	Calls   int         // open calls of one connection: 1024
	Late    int         // calls given up whose answers may still come: 4096
}

// RepeatPolicy stops a client that makes the same failing call, with the same arguments, again and again.
type RepeatPolicy struct {
	Off    bool
	After  int           // failures in the window before calls are refused; 0 is 5
	Window time.Duration // also the longest time between two trials; 0 is one minute
}

// BreakerPolicy refuses the calls of a server for a while after it has failed several times in a row. Only failures of the server itself
// count, never mistakes of the caller or failures that a tool reports.
type BreakerPolicy struct {
	Off      bool
	Failures int           // in a row; 0 is 10
	Rest     time.Duration // 0 is 10 seconds
}

// RetryPolicy says how often a call may be made again. See [Call.MayRetry] for which calls.
type RetryPolicy struct {
	Attempts int           // in all; 0 and 1 are no retry
	MaxWait  time.Duration // the longest pause that is waited for; 0 is 10 seconds
	Budget   float64       // retries for each call, over time; 0 is 0.2
}

func (o *Options) fill() {
	if o.Mode == "" {
		o.Mode = ModeAnnotate
	}
	if o.Validate == "" {
		o.Validate = ValidationLenient
	}
	if o.Dialect == nil {
		o.Dialect = native
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Limits.Calls <= 0 {
		o.Limits.Calls = 1024
	}
	if o.Limits.Late <= 0 {
		o.Limits.Late = 4096
	}
	o.Limits.Message.AllowLoneSurrogates = true // a peer that cuts texts by UTF-16 units sends them, and clean traffic passes
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewRef == nil {
		o.NewRef = ref.New
	}
}

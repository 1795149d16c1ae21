package gateway

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

// Mode determines how the gateway may change a failing answer.
type Mode string

// The modes.
const (
	ModeObserve  Mode = "observe"  // change nothing; record and count; answer only lost calls
	ModeAnnotate Mode = "annotate" // add the envelope and a readable block; remove secrets and control characters; keep everything else
	ModeStrict   Mode = "strict"   // withhold the upstream's text, which only the ledger keeps
)

// Modes returns all modes, the default first.
func Modes() []Mode { return []Mode{ModeAnnotate, ModeObserve, ModeStrict} }

// Valid reports whether m is one of [Modes].
func (m Mode) Valid() bool { return m == ModeObserve || m == ModeAnnotate || m == ModeStrict }

// Options configures how a gateway treats one upstream. The zero value selects annotate mode, the default timeouts, lenient
// validation, no retries, a circuit breaker, and default limits.
type Options struct {
	Name string // name of the upstream in logs and entries
	// LearnName replaces Name by the name that the server gives itself when it is initialized.
	LearnName bool
	Mode      Mode // "" means annotate
	// Dialect is the format of answers that the gateway makes; nil means candor.
	Dialect dialect.Dialect
	// Mirror repeats the envelope in structuredContent of such answers, in the candor dialect and if the tool declares no
	// outputSchema.
	Mirror bool
	// Client is one of [ClientNames], the client program of all calls; "" means [AutoClient].
	Client string
	// Speaks is the dialect of the upstream, or "" if unknown. Errors in that dialect are always failures.
	Speaks string
	// Rules are specific to this upstream: they define which successful answers are failures, and map its errors to codes.
	Rules *Rules
	// Validate selects the calls to refuse because of their arguments; "" means lenient.
	Validate Validation
	// ValidateTools overrides Validate for single tools.
	ValidateTools map[string]Validation

	Timeout time.Duration // timeout of a call; 0 means [DefaultTimeout], negative means none. Progress extends it.
	// StartTimeout limits initialize; 0 means [DefaultStartTimeout], negative means none. It is long because servers are often
	// installed on first start.
	StartTimeout time.Duration
	Timeouts     map[string]time.Duration // by tool
	Retry        RetryPolicy
	Breaker      BreakerPolicy
	Repeats      RepeatPolicy
	Limits       Limits

	Ledger candor.Ledger
	Meter  candor.Meter
	Logger *slog.Logger
	// Observer is notified of the end of each call; nil if there is none.
	Observer Observer

	Now    func() time.Time
	NewRef func() string
}

// DefaultTimeout is the default timeout of a call.
const DefaultTimeout = 5 * time.Minute

// DefaultStartTimeout is the default timeout of initialize.
const DefaultStartTimeout = 2 * time.Minute

// Limits bounds the resources that peers may use. A zero field means its default.
type Limits struct {
	Message wire.Limits // one frame; default 16 MiB, 128 levels deep
	Calls   int         // open calls of one connection; default 1024
}

// RepeatPolicy configures when calls that keep failing with the same arguments are refused.
type RepeatPolicy struct {
	Off    bool
	After  int           // failures within Window before calls are refused; 0 means 5
	Window time.Duration // also the longest time between two trials; 0 means one minute
}

// BreakerPolicy configures the circuit breaker, which refuses calls for a while after consecutive failures. Only failures of the
// server count, not mistakes of the caller or failures that a tool reports.
type BreakerPolicy struct {
	Off           bool
	Failures      int           // consecutive; 0 means 10
	TrialInterval time.Duration // time between trials while open; 0 means 10 seconds
}

// RetryPolicy limits the retries of a call.
type RetryPolicy struct {
	Attempts int // total, including the first; 0 and 1 mean no retry
}

// OrDefault returns v if it is positive, otherwise the default.
func OrDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

func (o *Options) fill() {
	o.Mode = cmp.Or(o.Mode, ModeAnnotate)
	o.Validate = cmp.Or(o.Validate, ValidationLenient)
	if o.Dialect == nil {
		o.Dialect = native
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.Limits.Calls = OrDefault(o.Limits.Calls, 1024)
	o.Limits.Message.AllowLoneSurrogates = true // peers that cut strings by UTF-16 units send them, and clean messages must pass
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewRef == nil {
		o.NewRef = ref.New
	}
}

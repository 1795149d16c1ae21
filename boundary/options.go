package boundary

import (
	"context"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// Options says how a boundary behaves. The zero value is safe: the candor dialect, nothing shown that need not be shown,
// bounded messages, loopback hosts only.
type Options struct {
	// Dialect is the shape in which failures leave; nil is the candor dialect. With rpc the failures of tools leave as JSON-RPC
	// errors. With problem the refusals that answer no JSON-RPC message are RFC 9457 documents, and all else is candor.
	Dialect dialect.Dialect
	// Pattern chooses the pattern of the dialect dual for the failures of a tool; nil is [dialect.PatternAuto] for all.
	Pattern func(tool string) dialect.Pattern
	// Mirror repeats the envelope in structuredContent of failed results in the candor dialect, where the tool declares no
	// outputSchema. Without it programs read _meta["dev.candor/error"] and models the first text block.
	Mirror bool
	// Sep3313 adds _meta["io.modelcontextprotocol/toolFailure"] to failed results, the shape of a proposal.
	Sep3313 bool
	// Stack says who may see a stack. See [candor.ParseStackPolicy].
	Stack candor.StackPolicy
	// HideErrorText shows the model a fixed sentence in place of the text of Go errors, such as those of errors.New, and of the words
	// that fmt.Errorf puts around others. Otherwise that text is shown, redacted and bounded; see docs/decisions/008.
	HideErrorText bool

	// Ledger records each failure before it is sent; *ledger.Ledger is one. If it refuses, the failure leaves as what it
	// returned, AUDIT_LOG_FAILED as a rule.
	Ledger candor.Ledger
	// Successes has successful tool calls recorded as well.
	Successes bool
	// Suspected has successful tool results that look like failures, such as {"success":false}, recorded and counted as suspected.
	// They leave as they are. Every short result is read for it, which takes some microseconds; package serve turns it on.
	Suspected bool
	// Meter counts each failure after it was recorded; *meter.Meter is one. If it can report, sys/errorStats is offered.
	Meter candor.Meter
	// Tracer is told of every call; *meterotel.Tracer is one.
	Tracer Tracer

	// Timeout bounds a tool call. A handler that ignores its context is answered for and left behind. 0 is no bound.
	Timeout time.Duration
	// MaxCalls bounds the calls that run at the same time, on each stream or over HTTP together; 0 stands for 1024. More calls wait:
	// over HTTP for 5 seconds, on a stream for 30, and are then refused with TOO_MANY_CALLS. Fewer run while answers wait for
	// a client that does not read them.
	MaxCalls int
	// MaxMessage bounds a message, in bytes: 0 stands for 16 MiB on a stream and 4 MiB over HTTP.
	// Over HTTP the large ones share 32 MiB, or one of the largest; who finds no room is told UNAVAILABLE after a few seconds.
	MaxMessage int

	// Hosts are the names this server answers to over HTTP, besides loopback names, as in example.com or example.com:8080.
	// "*" stands for any, for a server behind a proxy that checks.
	Hosts []string
	// Origins are the web origins that may call over HTTP besides the server's own, as in https://app.example.com; "*" is any.
	Origins []string
	// Token is what every request over HTTP must bear in its Authorization header; "" is none.
	Token string

	// Refine is shown every failure on its way out, with the context of its call, and returns what leaves instead: a code of the
	// server's own domain, the session that only the server knows of. nil leaves it as it is. It must be quick. It is not asked about
	// an envelope that a tool has written itself, nor about what could not be recorded. Where it is set, the protocol's session is
	// not taken for the session of a failure.
	Refine func(ctx context.Context, e *candor.Error) *candor.Error
	// Undeclared is told of a code that a tool raised without having declared it; see [Declare].
	Undeclared func(tool string, code candor.Code)
	// Logger is told of trouble with the boundary's own parts, such as a ledger that refuses; nil is [slog.Default].
	Logger *slog.Logger

	// now and ref stand in for the clock and for chance in golden tests.
	now func() time.Time
	// foreignLimit stands in for [usercode.Limit] in tests.
	foreignLimit time.Duration
	ref          func() string
}

// Reporter is a [candor.Meter] that reports its counts as a JSON object.
type Reporter interface {
	AppendStats(dst []byte) []byte
}

// Tracer is told when a call begins and gets a function to call with its failure, or nil, when it ends.
type Tracer interface {
	StartCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error))
}

func (o *Options) fill() {
	if o.Dialect == nil {
		o.Dialect = candorDialect
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Logger = calmLogger(o.Logger)
	if o.now == nil {
		o.now = time.Now
	}
	if o.ref == nil {
		o.ref = ref.New
	}
}

package boundary

import (
	"context"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// Options configures a boundary. The zero value is safe: it uses the candor dialect, hides stacks, limits the size of messages and
// accepts only loopback hosts.
type Options struct {
	// Name is the name of the server in the ledger and the counters; "" means the name in its mcp.Implementation. Of several servers it is that of the
	// first one.
	Name string
	// Dialect is the format of failures; nil means the candor dialect. With rpc, failures of tools are sent as JSON-RPC errors. With
	// problem, refusals of requests that are not JSON-RPC messages are RFC 9457 documents, and all other failures use candor.
	Dialect dialect.Dialect
	// Pattern returns the pattern of the dual dialect for the failures of a tool; see [dialect.Options].
	Pattern func(tool string) byte
	// Mirror copies the envelope to structuredContent of failed results in the candor dialect, if the tool declares no outputSchema.
	// Without it, programs read _meta["dev.candor/error"] and models read the first text block.
	Mirror bool
	// Sep3313 adds _meta["io.modelcontextprotocol/toolFailure"], the format of a proposal, to failed results.
	Sep3313 bool
	// Stack controls who may see a stack. See [candor.ParseStackPolicy].
	Stack candor.StackPolicy
	// HideErrorText replaces the text of Go errors, such as those of errors.New, and the text that fmt.Errorf adds to other errors,
	// by a fixed sentence. Otherwise the client sees that text, redacted and truncated; see docs/decisions/008.
	HideErrorText bool

	// Ledger records each failure before it is sent; *ledger.Ledger is one. If it returns an error, AUDIT_LOG_FAILED or
	// AUDIT_LOCK_FAILED is sent instead of the failure.
	Ledger candor.Ledger
	// Successes records successful tool calls as well.
	Successes bool
	// Suspected records and counts successful tool results that look like failures, such as {"success":false}, as suspected. They are
	// sent unchanged. The check reads every short result, which takes some microseconds; package serve enables it.
	Suspected bool
	// Meter counts each failure after it was recorded; *meter.Meter is one. If it is a [reporter], sys/errorStats is offered.
	Meter candor.Meter
	// Tracer observes every call; *Tracer of adapters/otel is one.
	Tracer Tracer

	// Tools returns the names of the tools of a server of another SDK, which are suggested to the caller of an unknown one. If it is
	// nil, the refusal of that SDK is sent.
	Tools func(context.Context) []string
	// Timeout limits the duration of a call. If a handler ignores its context, its call is answered and the handler keeps running. 0
	// means no limit.
	Timeout time.Duration
	// MaxCalls limits the calls that run at the same time, on each stream or over HTTP together; 0 means 1024. Further calls wait,
	// over HTTP for 5 seconds and on a stream for 30, and are then refused with TOO_MANY_CALLS. No further handler starts while
	// clients have not read 10 MiB of results.
	MaxCalls int
	// MaxMessage limits the size of a message in bytes; 0 means 16 MiB on a stream and 4 MiB over HTTP. Over HTTP, large messages
	// share 32 MiB, or MaxMessage if that is more. Requests that get no space within 5 seconds fail with UNAVAILABLE.
	MaxMessage int

	// Hosts lists the host names that this server accepts over HTTP besides loopback names, such as example.com or example.com:8080.
	// "*" accepts any host, for a server behind a proxy that checks it.
	Hosts []string
	// Origins lists the web origins that may call over HTTP besides the server's own, such as https://app.example.com; "*" accepts
	// any.
	Origins []string
	// Token is the bearer token that every request over HTTP must have in its Authorization header; "" requires none.
	Token string

	// Refine is called with every failure before it is sent, and with the context of its call. It returns the error to send instead,
	// for example with a code of the server's domain or a session that only the server knows. If it returns nil, the failure is
	// unchanged. It must be quick and must not panic. It is not called for AUDIT_LOG_FAILED. If Refine is set, the protocol's session is not used as the
	// session of a failure.
	Refine func(ctx context.Context, e *candor.Error) *candor.Error
	// Logger logs problems of the boundary itself, such as a ledger that refuses an entry; nil means [slog.Default].
	Logger *slog.Logger

	// now and ref replace the clock and the random refs in golden tests.
	now func() time.Time
	ref func() string
}

// reporter is a [candor.Meter] that reports its counts as a JSON object.
type reporter interface {
	AppendStats(dst []byte) []byte
}

// Tracer observes calls. StartCall is called when a call begins; the function it returns is called when the call ends, with the
// failure or nil.
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
	if o.now == nil {
		o.now = time.Now
	}
	if o.ref == nil {
		o.ref = ref.New
	}
}

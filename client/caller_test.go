package client_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/dialect"
)

var (
	readOnly   = &mcp.ToolAnnotations{ReadOnlyHint: true}
	idempotent = &mcp.ToolAnnotations{IdempotentHint: true}
)

// retryRig is a caller of a server with the tool "do", which answers as the script specifies.
type retryRig struct {
	*client.Caller
	server *mcp.Server
	script func(ctx context.Context, attempt int) error
	ran    atomic.Int64
}

// withRig runs a test in a synctest bubble, where a wait takes no real time and is exact.
func withRig(t *testing.T, annotations *mcp.ToolAnnotations, test func(t *testing.T, r *retryRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &retryRig{Caller: &client.Caller{}}
		r.server = toolServer("do", annotations, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}}, r.script(ctx, int(r.ran.Add(1)))
		})
		boundary.Install(r.server, boundary.Options{Logger: slog.New(slog.DiscardHandler)})
		near, far := mcp.NewInMemoryTransports()
		served, err := r.server.Connect(t.Context(), far, nil)
		if err != nil {
			t.Fatal(err)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
			&mcp.ClientOptions{ToolListChangedHandler: r.ToolListChanged})
		r.Session, err = client.Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		test(t, r)
		_ = r.Session.Close()
		_ = served.Close()
	})
}

func (r *retryRig) call(ctx context.Context) *candor.Error {
	_, e := r.CallTool(ctx, &mcp.CallToolParams{Name: "do"})
	return e
}

func checkStopped(t *testing.T, r *retryRig, e *candor.Error, ran int64, why string) {
	t.Helper()
	if got := e.Details().Get("retryStopped").String(); r.ran.Load() != ran || got != `"`+why+`"` {
		t.Errorf("ran %d times, stopped because of %s; want %d times, %q (%v)", r.ran.Load(), got, ran, why, e)
	}
}

func always(e *candor.Error) func(context.Context, int) error {
	return func(context.Context, int) error { return e }
}

func TestTheDelayIsHonouredAndTheCallSucceeds(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		began := time.Now()
		var gaps []time.Duration
		r.script = func(_ context.Context, attempt int) error {
			gaps = append(gaps, time.Since(began))
			if attempt < 3 {
				return candor.RetryableAfter(candor.CodeUnavailable, time.Duration(attempt)*time.Second, "")
			}
			return nil
		}
		if e := r.call(t.Context()); e != nil || r.ran.Load() != 3 {
			t.Fatalf("after %d attempts: %v", r.ran.Load(), e)
		}
		if gaps[1] < time.Second || gaps[1] > time.Second+100*time.Millisecond {
			t.Errorf("the second attempt came after %v", gaps[1])
		}
		if wait := gaps[2] - gaps[1]; wait < 2*time.Second || wait > 2*time.Second+200*time.Millisecond {
			t.Errorf("the third attempt came after %v more", wait)
		}
	})
}

func TestNotRetryableIsNeverRetried(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		r.script = always(candor.NotRetryable(candor.CodeUnavailable, ""))
		e := r.call(t.Context())
		if r.ran.Load() != 1 || !e.Details().IsZero() || e.CallInfo().Tool != "do" {
			t.Errorf("ran %d times: %v %v", r.ran.Load(), e, e.Details())
		}
	})
}

func TestLastErrorHasItsAttempts(t *testing.T) {
	withRig(t, idempotent, func(t *testing.T, r *retryRig) {
		r.script = always(candor.RetryableImmediately(dual.DBBusy, "", candor.WithDetails(map[string]any{"table": "t"})))
		e := r.call(t.Context())
		checkStopped(t, r, e, 3, "attempts")
		if e.Code() != dual.DBBusy || e.Details().Get("attempts").String() != "3" || e.Details().Get("table").IsZero() {
			t.Errorf("%v %v", e, e.Details())
		}
	})
}

// before answers tool calls in front of the boundary, as a gateway or another server would, because the boundary attributes every
// error of a tool to the tool.
func before(r *retryRig, sent **candor.Error) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "tools/call" {
				return next(ctx, method, req)
			}
			r.ran.Add(1)
			return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{dialect.MetaKey: *sent}, Content: []mcp.Content{}}, nil
		}
	}
}

func TestCallWithPossibleEffectIsNotRepeated(t *testing.T) {
	withRig(t, nil, func(t *testing.T, r *retryRig) {
		r.Budget, r.MaxAttempts = 1e6, 2
		var sent *candor.Error
		r.server.AddReceivingMiddleware(before(r, &sent))
		for code := range candor.Codes() {
			for _, by := range []candor.Party{candor.PartyTool, candor.PartyServer, candor.PartyGateway} {
				for _, inferred := range []bool{false, true} {
					sent = candor.RetryableImmediately(code, "", candor.WithOrigin(by, inferred))
					r.ran.Store(0)
					e := r.call(t.Context())
					if again := r.ran.Load() == 2; again != provesNotRun(code, by, inferred) {
						t.Errorf("%v by %s (inferred %v) ran %d times: %v", code, by, inferred, r.ran.Load(), e.Details())
					}
				}
			}
		}
	})
}

// provesNotRun repeats the rule of [contract.ProvesNoEffect] for errors without details.
func provesNotRun(code candor.Code, by candor.Party, inferred bool) bool {
	if inferred {
		return false
	}
	return by != candor.PartyTool && code.Info().Effect == "none"
}

func TestTimeoutIsRetriedOnlyForIdempotentTools(t *testing.T) {
	for name, c := range map[string]struct {
		annotations *mcp.ToolAnnotations
		ran         int64
		why         string
	}{"with effects": {nil, 1, "effect"}, "idempotent": {idempotent, 3, "attempts"}} {
		t.Run(name, func(t *testing.T) {
			withRig(t, c.annotations, func(t *testing.T, r *retryRig) {
				r.Timeout = time.Second
				r.script = func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
				e := r.call(t.Context())
				checkStopped(t, r, e, c.ran, c.why)
				if e.Code() != candor.CodeTimeout || e.Origin().By != candor.PartyClient || !errors.Is(e, context.DeadlineExceeded) {
					t.Errorf("%v by %s", e, e.Origin().By)
				}
			})
		})
	}
}

func TestListingThatIsNotAnsweredIsLimited(t *testing.T) {
	withRig(t, idempotent, func(t *testing.T, r *retryRig) {
		r.Timeout = time.Second
		r.script = always(candor.New(candor.CodeUpstreamUnavailable, ""))
		r.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					<-ctx.Done()
				}
				return next(ctx, method, req)
			}
		})
		began := time.Now()
		if e := r.call(t.Context()); e == nil || time.Since(began) > time.Second {
			t.Errorf("%v after %s", e, time.Since(began))
		}
	})
}

func TestWaitBeyondTheDeadlineIsNotStarted(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		began := time.Now()
		r.script = always(candor.RetryableAfter(candor.CodeUnavailable, time.Minute, ""))
		checkStopped(t, r, r.call(t.Context()), 1, "wait")
		within, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		r.MaxWait = time.Hour
		r.ran.Store(0)
		checkStopped(t, r, r.call(within), 1, "wait")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v for nothing", waited)
		}
	})
}

func TestCancelledWaitEnds(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r.script = always(candor.RetryableAfter(candor.CodeUnavailable, 10*time.Second, ""))
		e := r.call(ctx)
		checkStopped(t, r, e, 1, "cancelled")
		if e.Code() != candor.CodeUnavailable {
			t.Errorf("the server's error became %v", e)
		}
	})
}

func TestRetriesOfAFailingServerAreLimited(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		r.script = always(candor.RetryableImmediately(candor.CodeUnavailable, ""))
		const calls int64 = 200
		var last *candor.Error
		for range calls {
			last = r.call(t.Context())
		}
		if most := calls + 10 + calls/5; r.ran.Load() > most || r.ran.Load() < most-2 {
			t.Errorf("%d calls were sent %d times, want about %d", calls, r.ran.Load(), most)
		}
		if got := last.Details().Get("retryStopped").String(); got != `"budget"` {
			t.Errorf("stopped because of %s", got)
		}
	})
}

func TestChangedAnnotationsAreSeen(t *testing.T) {
	withRig(t, readOnly, func(t *testing.T, r *retryRig) {
		r.script = always(candor.RetryableImmediately(candor.CodeUnavailable, ""))
		checkStopped(t, r, r.call(t.Context()), 3, "attempts")
		r.server.AddTool(&mcp.Tool{Name: "do", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				r.ran.Add(1)
				return nil, candor.RetryableImmediately(candor.CodeUnavailable, "")
			})
		time.Sleep(time.Second) // the time of the bubble: the server delays its notification
		r.ran.Store(0)
		checkStopped(t, r, r.call(t.Context()), 1, "effect")
	})
}

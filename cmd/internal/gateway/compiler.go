package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// compiler compiles the schemas of one upstream's tools on their first call, outside the goroutines that read messages. The zero
// compiler is ready to use.
type compiler struct {
	mu      sync.Mutex
	running map[*tool]chan struct{} // guarded by mu; closed when the schema is compiled
}

// maxCompiling bounds the schemas of one upstream that wait to be compiled. Beyond it, calls of further tools are not checked.
const maxCompiling = 64

// compileSlots bounds the schemas that are compiled at the same time, to limit CPU and memory use.
var compileSlots = make(chan struct{}, max(1, min(4, runtime.GOMAXPROCS(0)/2)))

// compile compiles the schema of a tool in the background. The channel is closed when the schema is ready. It is nil if too many
// are waiting.
func (u *Upstream) compile(t *tool) <-chan struct{} {
	c := &u.compiles
	c.mu.Lock()
	defer c.mu.Unlock()
	if done := c.running[t]; done != nil {
		return done
	}
	if len(c.running) >= maxCompiling {
		return nil
	}
	if c.running == nil {
		c.running = map[*tool]chan struct{}{}
	}
	done := make(chan struct{})
	c.running[t] = done
	go func() {
		compileSlots <- struct{}{}
		defer func() { <-compileSlots }()
		defer c.finish(t, done)
		defer func() { u.LogPanic(context.Background(), "compiling a schema", recover()) }()
		t.compiled.Store(schemas.Entry([]byte(t.input)))
	}()
	return done
}

// LogPanic logs a recovered panic, and reports whether there was one.
func (u *Upstream) LogPanic(ctx context.Context, doing string, recovered any) bool {
	if recovered != nil {
		u.Options.Logger.ErrorContext(ctx, "recovered from a panic", slog.String("while", doing), slog.String("panic", candor.Public(fmt.Sprint(recovered), MaxNoiseBytes)))
	}
	return recovered != nil
}

func (c *compiler) finish(t *tool, done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, t)
	close(done)
}

// MaxCheckTimeout is how long a call waits for the data needed to check it: the handshake, the tool list and the tool's schema.
const MaxCheckTimeout = 2 * time.Second

// CheckTimeout returns how long this call may wait before it is forwarded unchecked. It is at most a quarter of the call's timeout.
func (c *Call) CheckTimeout() time.Duration {
	if limit := c.Timeout(); limit > 0 {
		return min(MaxCheckTimeout, limit/4)
	}
	return MaxCheckTimeout
}

// uncompiled returns the called tool if its schema must be compiled before the call can be checked against tools, otherwise nil.
func (c *Call) uncompiled(tools *toolSet) *tool {
	if !c.up.ChecksArguments(c.tool) {
		return nil
	}
	t := tools.tool(c.tool)
	if t == nil {
		return nil
	}
	if _, ready := t.schema(); ready {
		return nil
	}
	return t
}

// AwaitSchema waits until the call can be checked, up to [Call.CheckTimeout].
func (c *Call) AwaitSchema(ctx context.Context) {
	t := c.uncompiled(c.tools)
	if t == nil {
		return
	}
	done := c.up.compile(t)
	if done == nil {
		return
	}
	timer := time.NewTimer(c.CheckTimeout())
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// NeedsSchema reports whether the schema of the called tool must be compiled before the call can be checked.
func (c *Call) NeedsSchema() bool { return c.uncompiled(c.tools) != nil }

// CompileSchema compiles the schema of the called tool, as listed to the caller, in the background. The channel is closed when
// the schema is ready. It is nil if there is nothing to wait for.
func (c *Call) CompileSchema(cache *ToolCache, who Caller) <-chan struct{} {
	t := c.uncompiled(cache.find(who))
	if t == nil {
		return nil
	}
	return c.up.compile(t)
}

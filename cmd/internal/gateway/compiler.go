package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
)

// LogPanic logs a recovered panic, and reports whether there was one.
func (u *Upstream) LogPanic(ctx context.Context, doing string, recovered any) bool {
	if recovered != nil {
		u.Options.Logger.ErrorContext(ctx, "recovered from a panic", slog.String("while", doing), slog.String("panic", candor.Public(fmt.Sprint(recovered), MaxNoiseBytes)))
	}
	return recovered != nil
}

// MaxCheckTimeout is how long a call waits for the data needed to check it: the handshake and the tool list.
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

// NeedsSchema reports whether the schema of the called tool must be compiled before the call can be checked.
func (c *Call) NeedsSchema() bool { return c.uncompiled(c.tools) != nil }

// CompileSchema compiles the schema of the called tool, as listed to the caller, if it is the first call of the tool. Package schema
// bounds the time that this takes. A schema that cannot be compiled is not used.
func (c *Call) CompileSchema(cache *ToolCache, who Caller) { c.compile(cache.find(who)) }

func (c *Call) compile(tools *toolSet) {
	defer func() { c.up.LogPanic(context.Background(), "compiling a schema", recover()) }()
	if t := c.uncompiled(tools); t != nil {
		t.compiled.Store(schemas.Entry([]byte(t.input)))
	}
}

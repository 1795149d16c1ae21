package kaiza

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	"github.com/candor-mcp/candor/codes/blockers"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// legacyError is an error type that carries a code in its ErrorCode method.
type legacyError struct{ code string }

func (e legacyError) Error() string { return "a legacy error" }

// ErrorCode returns the code.
func (e legacyError) ErrorCode() string { return e.code }

// throw panics with v.
func throw(v any) error { panic(v) } //nolint:forbidigo // on purpose

// drills maps the kinds of the drill tool to functions that fail. The failures are handled like any other.
var drills = map[string]func(context.Context) error{
	"panic":         func(context.Context) error { return throw(errors.New("the drill panicked with an error")) },
	"panic_text":    func(context.Context) error { return throw("the drill panicked with a text") },
	"panic_nil":     func(context.Context) error { return throw(nil) },
	"panic_pointer": func(context.Context) error { var p *struct{ v int }; return fmt.Errorf("%d", p.v) },
	"error":         func(context.Context) error { return errors.New("the drill returned an error") },
	"wrapped":       func(context.Context) error { return fmt.Errorf("the drill wraps: %w", fs.ErrPermission) },
	"legacy":        func(context.Context) error { return legacyError{"HASH_MISMATCH"} },
	"foreign_rule": func(context.Context) error {
		return candor.New(blockers.InvariantViolation, "", candor.WithCause(errors.New("the drill")))
	},
	"uncoded": func(context.Context) error { return candor.New(0, "") },
	"silent":  func(context.Context) error { return candor.New(candor.CodeUnknownToolFailure, "") },
	"cyclic": func(context.Context) error {
		return candor.New(kaizacode.InternalError, "", candor.WithDetails(cyclic()), candor.WithCause(errors.New("a cause of a cyclic failure")))
	},
	"panic_value": func(context.Context) error { return throw(cyclic()) },
	"huge": func(context.Context) error {
		huge := strings.Repeat("a huge cause ", 1<<16)
		return candor.New(kaizacode.InternalError, huge, candor.WithDetails(map[string]any{"huge": huge}), candor.WithCause(errors.New(huge)))
	},
	"invariant":       func(context.Context) error { return brokenRule() },
	"panic_invariant": func(context.Context) error { return throw(brokenRule()) },
}

// cyclic returns a value that cannot be encoded as JSON.
func cyclic() map[string]any {
	loop := map[string]any{"name": "loop"}
	loop["self"] = loop
	return map[string]any{"loop": loop, "nan": math.NaN(), "inf": math.Inf(1), "channel": make(chan int)}
}

func brokenRule() error {
	return workspace.InvariantViolation("INV_DRILL", "A rule was broken on request.", candor.WithCause(errors.New("the drill")))
}

func drill() workbench.Tool {
	return workbench.Drill(drills, kaizacode.UnknownToolFailure, kaizacode.HashMismatch, kaizacode.InvariantViolation, kaizacode.InsufficientPermissions)
}

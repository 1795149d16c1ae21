package dual

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

const drillName = "drill"

// drills are handler failures that a caller cannot cause. They are handled like any other failure.
var drills = map[string]func(ctx context.Context) error{
	"panic": func(context.Context) error { panic(errors.New("the drill panicked")) }, //nolint:forbidigo // that is the drill
	"error": func(context.Context) error { return errors.New("the drill returned an error") },
	"hold": func(ctx context.Context) error { // holds the lock of the tool
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return ctx.Err()
	},
}

func (s *System) drill() workbench.Tool {
	kinds := `"` + strings.Join(slices.Sorted(maps.Keys(drills)), `","`) + `"`
	return workbench.Tool{
		Name: drillName, Title: "Fail on request",
		About:    "Fail in a chosen way, to see what a client makes of it. It is offered only where the operator asked for it.",
		Input:    `{"kind":{"type":"string","enum":[` + kinds + `]}}`,
		Required: []string{"kind"},
		Codes:    []candor.Code{dualcode.HandlerError},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in struct {
			Kind string `json:"kind"`
		},
		) (any, error) {
			return nil, drills[in.Kind](ctx)
		}),
	}
}

package dual

import (
	"context"
	"errors"
	"time"

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

func drill() workbench.Tool { return workbench.Drill(drills, dualcode.HandlerError) }

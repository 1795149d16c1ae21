package workrail

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// drills are the ways in which the drill tool can fail. They are handled like any other failure.
var drills = map[string]func(s *System, ctx context.Context) error{
	"panic": func(*System, context.Context) error { panic(errors.New("the drill panicked")) }, //nolint:forbidigo // on purpose
	"error": func(*System, context.Context) error { return errors.New("the drill returned an error") },
	"timeout": func(s *System, ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 0)
		defer cancel()
		_, err := s.workflow(ctx, "bug-hunt")
		return err
	},
	"unsendable": func(*System, context.Context) error {
		loop := map[string]any{"nan": math.NaN(), "channel": make(chan int)}
		loop["self"] = loop
		return failure(workrailcode.PreconditionFailed, "", "", loop, nil)
	},
	"huge": func(*System, context.Context) error {
		huge := strings.Repeat("huge … ", 1<<17)
		return failure(workrailcode.PreconditionFailed, huge, huge, map[string]any{"huge": huge, "…": huge}, errors.New(huge))
	},
	"too_many_blockers": func(s *System, _ context.Context) error {
		return s.blockedBy(make([]blocker, maxBlockers+1))
	},
	"long_blocker_message": func(s *System, _ context.Context) error {
		return s.blockedBy([]blocker{{Message: strings.Repeat("m", maxMessageBytes+1)}})
	},
	"long_blocker_fix": func(s *System, _ context.Context) error {
		return s.blockedBy([]blocker{{SuggestedFix: strings.Repeat("f", maxFixBytes+1)}})
	},
}

// blockedBy returns a report that belongs to no session; only its budget is checked.
func (s *System) blockedBy(all []blocker) error {
	_, err := s.block(&sessionState{next: &stepView{}}, &attempt{}, all)
	return err
}

func (s *System) drill() workbench.Tool {
	kinds := map[string]func(context.Context) error{}
	for name, fail := range drills {
		kinds[name] = func(ctx context.Context) error { return fail(s, ctx) }
	}
	return workbench.Drill(kinds, workrailcode.PreconditionFailed)
}

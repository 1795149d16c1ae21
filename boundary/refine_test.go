package boundary

import (
	"context"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/wire"
)

// TestRefineSetsCodeAndSession passes refusals of the boundary and errors of a tool through Refine.
func TestRefineSetsCodeAndSession(t *testing.T) {
	for _, e := range eras {
		var asked int
		s := begin(t, rowServer(), e, Options{Refine: func(_ context.Context, e *candor.Error) *candor.Error {
			if asked++; e.Code() == candor.CodeInvalidArguments {
				return candor.New(kaiza.MissingRequiredField, "", candor.WithSession("s-9", "WINDSURF", "/w"))
			}
			return nil
		}})
		for call, want := range map[string]candor.Code{
			callRow("typed", `{}`): kaiza.MissingRequiredField,
			callRow("coded", `{}`): candor.CodeRateLimited,
			callRow("nope", `{}`):  candor.CodeToolNotFound,
		} {
			asked = 0
			s.send(e.say(call))
			m := wire.Parse([]byte(s.next()), wire.Limits{})
			told, _ := envelope(t, &m)
			if told.Code() != want || asked != 1 {
				t.Errorf("%s: %s became %v, asked %d times", e.name, call, told.Code(), asked)
			}
			if at := told.CallInfo().SessionID; (at == "s-9") != (want == kaiza.MissingRequiredField) {
				t.Errorf("%s: %s names the session %q", e.name, call, at)
			}
			all := s.ledger.all()
			if last := all[len(all)-1]; last.err.Code() != want {
				t.Errorf("%s: %s is recorded as %v", e.name, call, last.err.Code())
			}
		}
		s.rest()
	}
}

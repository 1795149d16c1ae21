package workrail_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// triggers make the running server emit each code of the domain, by a condition that a client or the environment can
// cause where possible.
var triggers = map[string]func(p *place) answer{
	"VALIDATION_ERROR": func(p *place) answer { return p.start().call("start_workflow", args{"workflowId": 5}) },
	"NOT_FOUND":        func(p *place) answer { return p.start().call("start_workflow", args{"workflowId": "none"}) },
	"PRECONDITION_FAILED": func(p *place) answer {
		s := p.start()
		last := s.walk(s.begin("plain", nil), 9)
		s.walk(last, 1).kind("completed")
		s.begin("plain", nil)
		if err := os.Remove(p.snapshot()); err != nil {
			p.t.Fatal(err)
		}
		return s.call("continue_workflow", args{"continueToken": s.resumed().token()})
	},
	"TIMEOUT":        func(p *place) answer { return p.start("--drill").call("drill", args{"kind": "timeout"}) },
	"INTERNAL_ERROR": func(p *place) answer { return p.start("--drill").call("drill", args{"kind": "panic"}) },
	"TOKEN_INVALID_FORMAT": func(p *place) answer {
		return p.start().call("continue_workflow", args{"continueToken": "ct_short"})
	},
	"TOKEN_UNSUPPORTED_VERSION": func(p *place) answer {
		s := p.start()
		token := s.begin("plain", nil).token()
		return s.call("continue_workflow", args{"continueToken": "ct_z" + token[4:]})
	},
	"TOKEN_BAD_SIGNATURE": func(p *place) answer {
		s := p.start()
		return s.call("continue_workflow", args{"continueToken": flip(s.begin("plain", nil).token(), 42)})
	},
	"TOKEN_SCOPE_MISMATCH": func(p *place) answer {
		s := p.start()
		return s.call("continue_workflow", args{"continueToken": s.begin("plain", nil).data("resumeToken")})
	},
	"TOKEN_UNKNOWN_NODE": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", nil)
		if err := os.RemoveAll(p.session(a.data("sessionId"))); err != nil {
			p.t.Fatal(err)
		}
		return s.call("continue_workflow", args{"continueToken": a.token()})
	},
	"TOKEN_WORKFLOW_HASH_MISMATCH": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", nil)
		p.replaceIn(p.snapshot(), "Do it.", "Do something else.")
		return s.call("continue_workflow", args{"continueToken": a.token()})
	},
	"TOKEN_SESSION_LOCKED": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", nil)
		defer p.hold(a.data("sessionId"))()
		return s.call("continue_workflow", args{"continueToken": a.token()})
	},
	"SESSION_NOT_HEALTHY": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", nil)
		p.write(p.segments(a.data("sessionId"))[0], "")
		return s.call("continue_workflow", args{"continueToken": a.token()})
	},
}

// resumed returns the answer about the most recently changed session.
func (s *server) resumed() answer {
	s.T.Helper()
	id, _ := s.call("resume_session", args{}).fine().M.Result().Path("structuredContent", "sessions", 0, "sessionId").Str()
	return s.call("resume_session", args{"sessionId": id}).fine()
}

// flip replaces the character at an index by another one of the alphabet.
func flip(token string, at int) string {
	other := "0"
	if token[at] == '0' {
		other = "1"
	}
	return token[:at] + other + token[at+1:]
}

// emitted runs a subtest for each code of a domain.
func emitted(t *testing.T, domain string, count int, triggers map[string]func(*place) answer, check func(t *testing.T, code candor.Code, a answer)) {
	t.Helper()
	registered := 0
	for c := range candor.Codes() {
		if c.Domain() != domain {
			continue
		}
		registered++
		t.Run(domain+"/"+c.Symbol(), func(t *testing.T) {
			t.Parallel()
			trigger := triggers[c.Symbol()]
			if trigger == nil {
				t.Fatal("nothing emits it")
			}
			if c.Info().Status != "active" {
				t.Errorf("it is emitted and %s in the catalogue", c.Info().Status)
			}
			check(t, c, trigger(newPlace(t)))
		})
	}
	if registered != count || len(triggers) != count {
		t.Errorf("%d codes are registered and %d have a trigger, want %d", registered, len(triggers), count)
	}
}

// TestW8EveryCodeIsEmitted makes the running server emit each of the 13 codes.
func TestW8EveryCodeIsEmitted(t *testing.T) {
	emitted(t, "workrail", 13, triggers, func(t *testing.T, c candor.Code, a answer) {
		a.is(c.Symbol())
		if domain, _ := a.Canonical().Path("domain").Str(); domain != "workrail" {
			t.Errorf("the domain is %s", domain)
		}
		a.wellFormed()
		if strings.HasPrefix(c.Symbol(), "TOKEN_") && (a.detail("tokenErrorCode") != c.Symbol() || a.detail("expected") == "") {
			t.Errorf("the details lack tokenErrorCode or expected: %s", a.envelope().Raw())
		}
	})
}

// blocked has the conditions that block a step, by code.
var blocked = map[string]func(p *place) answer{
	"MISSING_REQUIRED_NOTES": func(p *place) answer { return p.start().reach("noted", args{}) },
	"MISSING_REQUIRED_OUTPUT": func(p *place) answer {
		return p.start().reach("producing", args{})
	},
	"INVALID_REQUIRED_OUTPUT": func(p *place) answer {
		return p.start().reach("producing", args{"output": args{"n": "two"}})
	},
	"MISSING_CONTEXT_KEY":         func(p *place) answer { return p.start().reach("knowing", args{}) },
	"USER_ONLY_DEPENDENCY":        func(p *place) answer { return p.start().reach("asking", args{}) },
	"REQUIRED_CAPABILITY_UNKNOWN": func(p *place) answer { return p.start().reach("able", args{}) },
	"REQUIRED_CAPABILITY_UNAVAILABLE": func(p *place) answer {
		return p.start().reach("able", args{"context": args{"capabilities": args{"shell": false}}})
	},
	"CONTEXT_BUDGET_EXCEEDED": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", args{"a": strings.Repeat("x", 200_000)})
		return s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"b": strings.Repeat("x", 200_000)}})
	},
	"INVARIANT_VIOLATION": func(p *place) answer {
		return p.start().reach("each[1].inner", args{"context": args{"items": []string{"z"}}})
	},
	"STORAGE_CORRUPTION_DETECTED": func(p *place) answer {
		s := p.start()
		a := s.begin("plain", nil)
		p.write(p.snapshot(), "{")
		return s.call("continue_workflow", args{"continueToken": a.token()})
	},
}

// demands has the content that completes each step of the demanding workflow.
var demands = []struct {
	path string
	give args
}{
	{"noted", args{"notes": "n"}},
	{"producing", args{"output": args{"n": 2}}},
	{"knowing", args{"context": args{"fact": "f"}}},
	{"asking", nil}, // a person answers
	{"able", args{"context": args{"capabilities": args{"shell": true}, "items": []string{"a", "b"}}}},
	{"each[1].inner", args{}},
	{"each[2].inner", args{}},
	{"last", args{}},
}

// reach advances the demanding workflow to a step and tries to complete it with the given content.
func (s *server) reach(path string, give args) answer {
	s.T.Helper()
	a := s.begin("demanding", nil)
	for _, d := range demands {
		if got := a.data("step", "path"); got != d.path {
			s.T.Fatalf("the step is %q, want %q", got, d.path)
		}
		if d.path == path {
			break
		}
		if d.give == nil {
			s.answers(a.data("sessionId"), "c")
		}
		a = s.call("continue_workflow", with(d.give, "continueToken", a.token())).kind("step")
	}
	return s.call("continue_workflow", with(give, "continueToken", a.token()))
}

// answers lets a person answer the question of a session, by the command.
func (s *server) answers(id, text string) {
	s.T.Helper()
	state := s.Cmd.Args[slices.Index(s.Cmd.Args, "--state")+1]
	out, err := exec.CommandContext(s.T.Context(), binary, "workbench", "workrail", "answer", id, "--text", text, "--state", state, "--ledger", "none").CombinedOutput()
	if err != nil {
		s.T.Fatalf("%v: %s", err, out)
	}
}

func with(in args, key string, value any) args {
	out := args{key: value}
	for k, v := range in {
		out[k] = v
	}
	return out
}

// TestW16EveryBlockerCodeIsEmitted blocks a step in each of the ten ways.
func TestW16EveryBlockerCodeIsEmitted(t *testing.T) {
	emitted(t, "blockers", 10, blocked, func(t *testing.T, c candor.Code, a answer) {
		a.kind("blocked")
		if a.data("blockers", "blockers", 0, "code") != c.Symbol() {
			t.Errorf("the first blocker is not %s: %s", c, a.M.Result().Path("structuredContent", "blockers").Raw())
		}
		a.wellBlocked()
	})
}

// TestW16TheDemandingWorkflowEnds checks that the content of the other tests is sufficient to complete the workflow.
func TestW16TheDemandingWorkflowEnds(t *testing.T) {
	t.Parallel()
	newPlace(t).start().reach("last", args{}).kind("completed")
}

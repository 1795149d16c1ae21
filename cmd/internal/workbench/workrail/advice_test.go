package workrail_test

import (
	"maps"
	"strings"
	"testing"
)

// advice is what a suggestion or a fix must say, and a client that does exactly that after the trigger of a code.
type advice struct {
	says string
	obey func(s *server, a answer) answer
}

func (s *server) plain() answer { return s.call("start_workflow", args{"workflowId": "plain"}) }

// continues continues the most recently changed session.
func (s *server) continues() answer {
	return s.call("continue_workflow", args{"continueToken": s.resumed().token()})
}

func resuming(says string) advice {
	return advice{says, func(s *server, _ answer) answer { return s.continues() }}
}

func starting(says string) advice {
	return advice{says, func(s *server, _ answer) answer { return s.plain() }}
}

// retrying continues with the token of the blocked answer and the given content.
func retrying(says string, give args) advice {
	return advice{says, func(s *server, a answer) answer {
		return s.call("continue_workflow", with(give, "continueToken", a.token())).kind("step")
	}}
}

var advices = map[string]advice{
	"VALIDATION_ERROR": starting("Correct the arguments"),
	"NOT_FOUND":        {"Call list_workflows", func(s *server, _ answer) answer { s.call("list_workflows", args{}).fine(); return s.plain() }},
	"PRECONDITION_FAILED": {"start_workflow then stores it again", func(s *server, _ answer) answer {
		open := s.call("resume_session", args{}).data("sessions", 0, "sessionId")
		s.plain().fine()
		return s.call("continue_workflow", args{"continueToken": s.call("resume_session", args{"sessionId": open}).token()})
	}},
	"TIMEOUT":                   {"Send the same call again", func(s *server, _ answer) answer { return s.call("list_workflows", args{}) }},
	"INTERNAL_ERROR":            {"Then call resume_session", func(s *server, _ answer) answer { return s.call("resume_session", args{}) }},
	"TOKEN_INVALID_FORMAT":      {"call resume_session without arguments", func(s *server, _ answer) answer { return s.call("resume_session", args{}) }},
	"TOKEN_UNSUPPORTED_VERSION": resuming("resume_session"), "TOKEN_BAD_SIGNATURE": resuming("resume_session"), "TOKEN_SCOPE_MISMATCH": resuming("continue_workflow takes the continueToken"),
	"TOKEN_UNKNOWN_NODE":           starting("start again with start_workflow"),
	"TOKEN_WORKFLOW_HASH_MISMATCH": {"start_workflow then stores it again", func(s *server, _ answer) answer { s.plain().fine(); return s.continues() }},
	"TOKEN_SESSION_LOCKED":         resuming("send the same call again"),
	"SESSION_NOT_HEALTHY": {"export_session reads what is left, and start_workflow starts again", func(s *server, a answer) answer {
		s.call("export_session", args{"sessionId": s.call("resume_session", args{}).data("sessions", 0, "sessionId")}).fine()
		return s.plain()
	}},

	"MISSING_REQUIRED_NOTES":  retrying("Write in notes", args{"notes": "n"}),
	"MISSING_REQUIRED_OUTPUT": retrying("Give the JSON value in output", args{"output": args{"n": 1}}),
	"INVALID_REQUIRED_OUTPUT": retrying("Correct the output", args{"output": args{"n": 1}}),
	"MISSING_CONTEXT_KEY":     retrying("Set context.fact", args{"context": args{"fact": 1}}),
	"USER_ONLY_DEPENDENCY": {"candor workbench workrail answer ", func(s *server, a answer) answer {
		s.answers(a.data("sessionId"), "c")
		return s.call("continue_workflow", args{"continueToken": a.token()}).kind("step")
	}},
	"REQUIRED_CAPABILITY_UNKNOWN":     retrying("set context.capabilities", args{"context": args{"capabilities": args{"shell": true}, "items": []string{"a"}}}),
	"REQUIRED_CAPABILITY_UNAVAILABLE": retrying("set it to true in context.capabilities", args{"context": args{"capabilities": args{"shell": true}, "items": []string{"a"}}}),
	"CONTEXT_BUDGET_EXCEEDED":         retrying("Remove keys by setting them to null", args{"context": args{"a": nil}}),
	"INVARIANT_VIOLATION":             retrying("Leave what the context key items holds as it was", args{}),
	"STORAGE_CORRUPTION_DETECTED": {"start_workflow then stores it again", func(s *server, a answer) answer {
		s.plain().fine()
		return s.call("continue_workflow", args{"continueToken": a.token()}).kind("step")
	}},
}

// TestEverySuggestionHelps causes every code and does what its suggestion says: the next call succeeds, so no suggestion leads
// to the same failure or in a circle.
func TestEverySuggestionHelps(t *testing.T) {
	all := maps.Clone(triggers)
	maps.Copy(all, blocked)
	for code, trigger := range all {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			a := trigger(p)
			said := a.suggestion() + a.data("blockers", "blockers", 0, "suggestedFix")
			how := advices[code]
			if how.says == "" || !strings.Contains(said, how.says) {
				t.Fatalf("it does not say %q: %s", how.says, said)
			}
			how.obey(p.last, a).fine()
		})
	}
}

// TestLoopsAdviseOnTheirOwnKey has a loop that ended before the one that cannot run.
func TestLoopsAdviseOnTheirOwnKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/two.yaml", "id: two\nname: Two\nsteps:\n  - {id: s, prompt: p, notes: none}\n"+
		"  - {id: e, loop: {each: files, as: f, maxIterations: 5, steps: [{id: r, prompt: p, notes: none}]}}\n"+
		"  - {id: t, loop: {times: n, maxIterations: 5, steps: [{id: u, prompt: p, notes: none}]}}\n")
	s := p.start()
	token := s.begin("two", nil).token()
	for _, key := range []string{"files", "n"} {
		bad, good := args{key: "abc"}, args{key: 1}
		if key == "files" {
			bad, good = args{}, args{key: []string{"a"}}
		}
		a := s.call("continue_workflow", args{"continueToken": token, "context": bad})
		if said := a.suggestion(); !a.failed() || !strings.Contains(said, "continue with the same token") || strings.Contains(said, "start") {
			t.Errorf("%s: %s", key, a.M.Bytes())
		}
		token = s.call("continue_workflow", args{"continueToken": token, "context": good}).kind("step").token()
	}
}

// TestASessionCanBeRewoundAndCancelled goes back over completed steps, uses old tokens, and opens a cancelled session again.
func TestASessionCanBeRewoundAndCancelled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a := s.call("start_workflow", args{"workflowId": "plain", "folder": "/p/one/"}).fine()
	id := args{"sessionId": a.data("sessionId")}
	s.call("rewind_session", id).is("PRECONDITION_FAILED")
	first := a.token()
	b := s.call("continue_workflow", args{"continueToken": first, "context": args{"k": 1}}).kind("step")
	c := s.call("continue_workflow", args{"continueToken": b.token()}).kind("step")
	for _, step := range []string{"s1", "s0"} {
		if a = s.call("rewind_session", id).kind("step"); a.data("step", "path") != step {
			t.Fatalf("rewound to %s, want %s", a.data("step", "path"), step)
		}
	}
	if text := string(s.call("resume_session", id).M.Bytes()); strings.Contains(text, "k = 1") || !strings.Contains(text, `"completedSteps":0`) {
		t.Errorf("the context or the count is not as before: %s", text)
	}
	for _, old := range []string{first, b.token(), c.token()} { // nothing is completed twice
		if again := s.call("continue_workflow", args{"continueToken": old}).kind("step"); again.data("step", "path") == "s3" {
			t.Error("an old token completed a step")
		}
	}
	s.call("cancel_session", with(id, "reason", "a mistake")).kind("cancelled")
	if got := s.call("continue_workflow", args{"continueToken": a.token()}).is("PRECONDITION_FAILED").detail("kind"); got != "no_pending_step" {
		t.Errorf("the kind is %s", got)
	}
	listed := func(folder string) bool {
		return strings.Contains(string(s.call("resume_session", args{"folder": folder}).fine().M.Bytes()), a.data("sessionId"))
	}
	if listed("/p/one") {
		t.Error("a cancelled session is listed")
	}
	a = s.call("rewind_session", id).kind("step")
	if !listed("/p/one") || listed("/p/two") {
		t.Error("the list of a folder is wrong")
	}
	s.call("continue_workflow", args{"continueToken": a.token()}).kind("step")
	s.Kill()
	if text := string(p.start().call("session_health", id).fine().M.Bytes()); !strings.Contains(text, `"healthy"`) {
		t.Errorf("after a restart: %s", text)
	}
}

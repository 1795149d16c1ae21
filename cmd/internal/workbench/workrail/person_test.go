package workrail_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

const personal = `id: personal
name: Personal
context: [{key: green, type: boolean}, {key: ok, type: boolean}]
steps:
  - {id: look, prompt: Look., notes: optional}
  - {id: ask, prompt: Ask., notes: none, askUser: {question: Publish?, key: ok}}
  - {id: publish, prompt: Do it., notes: none, when: {key: ok, equals: true}}
  - id: test
    loop: {until: {key: green, equals: true}, maxIterations: 3, onLimit: leave, steps: [{id: run, prompt: Run., notes: none}]}
`

// TestOnlyAPersonAnswers gives the answer in every way that an agent has, and then as a person, by the command and in the
// client.
func TestOnlyAPersonAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(filepath.Join(p.workflows, "personal.yaml"), personal)
	s := p.start()
	s.call("start_workflow", args{"workflowId": "personal", "context": args{"ok": true}}).is("VALIDATION_ERROR")
	a := s.begin("personal", nil)
	s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"ok": true}}).is("VALIDATION_ERROR")
	a = s.call("continue_workflow", args{"continueToken": a.token()}).kind("step")
	s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"ok": true}}).is("VALIDATION_ERROR")
	b := s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	b.says("USER_ONLY_DEPENDENCY", "candor workbench workrail answer "+a.data("sessionId")+", with the --state and --ledger of this server.")
	s.answers(a.data("sessionId"), "no")
	s.call("continue_workflow", args{"continueToken": b.token()}).kind("step").says("Step test[1].run", "1 of at most 3", "until green equals true")

	c := &server{servertest.Command(t, binary, s.Cmd.Args[1:]...)}
	if err := c.StartWith((*exec.Cmd).Start); err != nil {
		t.Fatal(err)
	}
	c.Ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"asks","version":"1"}}`)
	c.Write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for said, step := range map[string]string{`"accept","content":{"answer":true}`: "publish", `"accept","content":{"answer":false}`: "test[1].run", `"decline"`: "", `"accept","content":{"answer":"yes"}`: ""} {
		a = c.call("continue_workflow", args{"continueToken": c.begin("personal", nil).token()}).kind("step")
		reply := c.Send("tools/call", servertest.CallParams(t, "continue_workflow", args{"continueToken": a.token()}))
		question := c.Read()
		if text := string(question.Bytes()); !strings.Contains(text, "elicitation/create") || !strings.Contains(text, "Personal: Publish?") {
			t.Fatalf("the user is asked by %s", text)
		}
		c.Write(`{"jsonrpc":"2.0","id":` + string(question.ID()) + `,"result":{"action":` + said + `}}`)
		m, err := c.Await(reply)
		if err != nil {
			t.Fatal(err)
		}
		if a = (answer{servertest.Answer{T: t, M: &m}}); a.data("step", "path") != step && (step != "" || a.data("kind") != "blocked") {
			t.Errorf("%s leads to %s", said, m.Bytes())
		}
	}
}

// TestTypesOfContextKeysAreChecked sends texts in place of booleans.
func TestTypesOfContextKeysAreChecked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(filepath.Join(p.workflows, "typed.yaml"), "id: typed\nname: T\ncontext: [{key: n, type: integer}]\nsteps:\n  - {id: a, prompt: p, notes: none}\n  - {id: b, prompt: p, when: {key: green, equals: true}}\n")
	s := p.start()
	for _, n := range []any{"5", 5.5, true, []int{5}} {
		s.call("start_workflow", args{"workflowId": "typed", "context": args{"n": n}}).is("VALIDATION_ERROR")
	}
	a := s.begin("typed", args{"n": json.RawMessage("5.0")})
	b := s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"green": "True"}}).is("VALIDATION_ERROR")
	if message, _ := b.envelope().Path("message").Str(); !strings.Contains(message, "equals needs a boolean, got a string") {
		t.Error(message)
	}
	s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"green": true}}).kind("step")
}

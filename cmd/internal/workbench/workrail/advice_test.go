package workrail_test

import (
	"fmt"
	"strings"
	"testing"
)

func (a answer) suggestion() string {
	text, _ := a.canonical().Path("suggestion").Str()
	return text
}

// TestEveryMissingKeyIsNamed checks that an agent that sets all requested keys is not asked for more.
func TestEveryMissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var keys, skills, declared []string
	for i := range 15 {
		keys = append(keys, fmt.Sprintf("key%02d", i))
		skills = append(skills, fmt.Sprintf("skill%02d", i))
		declared = append(declared, fmt.Sprintf("{name: skill%02d}", i))
	}
	p.write(p.workflows+"/many.yaml", "id: many\nname: Many\ncapabilities: ["+strings.Join(declared, ", ")+"]\nsteps:\n  - {id: one, prompt: p, notes: required, requires: ["+
		strings.Join(keys, ", ")+"], capabilities: ["+strings.Join(skills, ", ")+"], output: {}, askUser: {question: Which?, key: choice}}\n")
	s := p.start()
	a := s.begin("many", nil)
	b := s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	b.wellBlocked()
	b.says("33 to do")
	for _, name := range append(keys, skills...) {
		b.says(name)
	}
	if strings.Contains(b.texts(), "needs an output: ") {
		t.Errorf("a colon without a description: %s", b.texts())
	}
	give, able := args{"choice": "x"}, args{}
	for i := range keys {
		give[keys[i]], able[skills[i]] = i, true
	}
	give["capabilities"] = able
	s.call("continue_workflow", args{"continueToken": b.token(), "notes": "n", "output": 1, "context": give}).kind("completed")
}

// TestANumberOutOfRangeIsNamed checks that the error reports a number out of range.
func TestANumberOutOfRangeIsNamed(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.begin("plain", nil)
	for _, argument := range []string{"output", "context"} {
		m := s.Ask("tools/call", fmt.Sprintf(`{"name":"continue_workflow","arguments":{"continueToken":%q,%q:{"removed":1e999999999}}}`, a.token(), argument))
		b := answer{t, &m}.is("VALIDATION_ERROR").wellFormed()
		if message, _ := b.canonical().Path("message").Str(); !strings.Contains(message, argument) || !strings.Contains(message, "out of range") || b.detail("kind") != "number_out_of_range" {
			t.Errorf("%s: %s", argument, b.envelope().Raw())
		}
	}
}

// TestAFailedStartNamesNoToken checks that the advice does not mention a token, because there is none yet.
func TestAFailedStartNamesNoToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/loop.yaml", "id: loop\nname: Loop\nsteps:\n  - {id: each, loop: {each: items, as: item, maxIterations: 5, steps: [{id: a, prompt: p}]}}\n")
	p.write(p.workflows+"/when.yaml", "id: when\nname: When\nsteps:\n  - {id: a, prompt: p, when: {key: n, greaterThan: 3}}\n")
	s := p.start()
	for id, context := range map[string]args{"loop": {"items": 7}, "when": {"n": "x"}} {
		a := s.call("start_workflow", args{"workflowId": id, "context": context}).is("VALIDATION_ERROR")
		if got := a.suggestion(); strings.Contains(got, "token") || !strings.Contains(got, "start_workflow") {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// TestAReplacedWorkflowCanBeRestored checks that the failure explains how to restore the workflow.
func TestAReplacedWorkflowCanBeRestored(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const code = "TOKEN_WORKFLOW_HASH_MISMATCH"
	if got := triggers[code](p).is(code).suggestion(); !strings.Contains(got, "doctor --repair") {
		t.Errorf("%s: %s", code, got)
	}
}

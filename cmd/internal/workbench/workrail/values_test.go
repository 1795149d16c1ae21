package workrail_test

import (
	"encoding/json"
	"testing"
)

func TestBlankAnswersAreNotAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/asks.yaml", "id: asks\nname: Asks\nsteps:\n  - {id: a, prompt: Ask., notes: optional, askUser: {question: \"Which?\", key: choice}}\n")
	s := p.start()
	for _, blank := range []any{"", " \n", args{}, []any{}} {
		a := s.begin("asks", nil)
		a = s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"choice": blank}}).kind("blocked")
		if code := a.data("blockers", "blockers", 0, "code"); code != "USER_ONLY_DEPENDENCY" {
			t.Errorf("%#v: %s", blank, code)
		}
	}
	for _, answered := range []any{"no", false, 0} {
		s.call("continue_workflow", args{"continueToken": s.begin("asks", nil).token(), "context": args{"choice": answered}}).kind("completed")
	}
}

func TestNumbersThatAreTooLargeAreRefused(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for _, number := range []string{"1e999", "-1e400"} {
		in := args{"workflowId": "plain", "context": args{"a": []any{args{"b": json.Number(number)}}}}
		if got := s.call("start_workflow", in).is("VALIDATION_ERROR").detail("path"); got != "context.a[0].b" {
			t.Errorf("%s: the path is %q", number, got)
		}
	}
	s.begin("plain", args{"a": json.Number("1e308"), "b": json.Number("1e-999")})
}

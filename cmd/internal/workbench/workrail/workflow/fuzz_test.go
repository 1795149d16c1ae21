package workflow_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// FuzzParse checks that no file makes Parse panic, that a file is either usable or has a problem, that canonical texts
// can be parsed again, and that the schema accepts every file that Parse accepts.
func FuzzParse(f *testing.F) {
	f.Add([]byte("id: w\nname: W\nguidance: [a]\ncontext:\n  - key: x\nsteps:\n  - id: a\n    prompt: |\n      Do {{x}}.\n    output: {schema: {type: object}}\n"))
	f.Add([]byte(`{"id":"w","name":"W","steps":[{"id":"a","prompt":"{{x}}","when":{"all":[{"key":"a","in":[1,2.50]}]}}]}`))
	f.Add([]byte(loop("each: x\nmaxIterations: 3\nas: y")))
	f.Add([]byte("a: &a [*a]\n"))
	s := fileSchema(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, problems := workflow.Check("w", data)
		if (w == nil) != (len(problems) > 0 && problems[0].Severity == workflow.SeverityError) || len(problems) > workflow.MaxProblems+1 {
			t.Fatalf("workflow %v with problems %v", w != nil, problems)
		}
		if w == nil {
			return
		}
		checkRoundTrip(t, w)
		if text, err := w.JSON(); err != nil || !s.Explain(text).OK() && !s.Explain(text).Unchecked {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
	})
}

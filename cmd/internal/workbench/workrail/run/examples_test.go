package run_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// TestExamplesRunToTheirEnd plays an agent that sets the context keys that the prompts ask for.
func TestExamplesRunToTheirEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workflow, context string
		set               map[string]string // by path: values that the agent adds to the context after the step
		want              string
	}{
		"cause found": {
			"bug-hunt", `{"report": "r"}`, map[string]string{
				"reproduce":      `{"reproduced": true, "reproduceCommand": "c", "expected": "e", "testCommand": "t"}`,
				"search[2].test": `{"rootCause": "c"}`,
			}, "reproduce narrow search[1].propose search[1].test search[2].propose search[2].test fix verify",
		},
		"cause not found": {
			"bug-hunt", `{"report": "r"}`, map[string]string{"reproduce": `{"reproduced": false}`},
			"reproduce ask-details narrow" + strings.Repeat(" search[#].propose search[#].test", 8) + " give-up",
		},
		"three units, one more found": {
			"migration", `{"goal": "g"}`, map[string]string{
				"inventory":      `{"units": [{"path": "a", "risk": "low"}, {"path": "b", "risk": "high"}]}`,
				"units[2].check": `{"units": [{"path": "a", "risk": "low"}, {"path": "b", "risk": "high"}, {"path": "c", "risk": "low"}]}`,
			}, "inventory recipe units[1].change units[1].check units[2].cover units[2].change units[2].check units[3].change units[3].check clean-up report",
		},
		"published": {
			"release", `{"newVersion": "1.4.0"}`, map[string]string{
				"checks[1].run-checks": `{"checksPassed": false}`, "checks[2].run-checks": `{"checksPassed": true}`, "confirm": `{"approval": "Yes"}`,
			}, "checks[1].run-checks checks[1].fix-checks checks[2].run-checks notes confirm publish verify",
		},
		"breaking and refused": {
			"release", `{"newVersion": "1.4.0"}`, map[string]string{
				"checks[1].run-checks": `{"checksPassed": true}`, "notes": `{"breaking": true}`, "confirm": `{"approval": "not yet"}`,
			}, "checks[1].run-checks notes breaking confirm not-published",
		},
		"breaking with a major version": {
			"release", `{"newVersion": "2.0.0"}`, map[string]string{
				"checks[1].run-checks": `{"checksPassed": true}`, "notes": `{"breaking": true}`, "confirm": `{"approval": "yes"}`,
			}, "checks[1].run-checks notes confirm publish verify",
		},
	} {
		data, _ := workflow.Examples.ReadFile("examples/" + c.workflow + ".yaml")
		w, err := workflow.Parse(c.workflow, data)
		if err != nil {
			t.Fatal(err)
		}
		context := object(t, c.context)
		paths, err := walk(t, w, context, func(path string) {
			for key, v := range object(t, c.set[path]+"{}") {
				context[key] = v
			}
		})
		got := strings.Join(paths, " ")
		want := c.want
		for i := 0; strings.Contains(want, "#"); i++ { // two steps in each of the iterations
			want = strings.Replace(want, "#", string(rune('1'+i/2)), 1)
		}
		if err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
}

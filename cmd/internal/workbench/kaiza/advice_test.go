package kaiza_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// advice is what a suggestion must say, and a client that does exactly that after the trigger of a code. The result is the
// answer to the last call.
type advice struct {
	says string
	obey func(p *env, suggestion string) answer
}

var planOfTriggers = plan.Hash([]byte(planText("src/**")))

func (p *env) reads() answer { return p.last.call("read_file", args{"path": "src/hello.txt"}) }

func (p *env) writes() answer {
	return p.last.call("write_file", args{"path": "src/new.txt", "content": "x\n", "plan_hash": planOfTriggers})
}

func (p *env) reports() {
	p.last.call("write_file", args{"path": "docs/reports/why.md", "content": "A rule was broken."}).fine()
}

func (p *env) begins() answer {
	return p.last.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
}

func read(says string) advice {
	return advice{says, func(p *env, _ string) answer { return p.reads() }}
}

const reportFirst = "first write a report below docs/reports/ with write_file. Then: "

var advices = map[string]advice{
	"SESSION_NOT_INITIALIZED": {"Call begin_session", func(p *env, _ string) answer { p.begins().fine(); return p.reads() }},
	"SESSION_LOCKED":          {"Write a failure report below docs/reports/", func(p *env, _ string) answer { p.reports(); return p.writes() }},
	"SESSION_INITIALIZATION_FAILED": {"Tell the operator", func(p *env, _ string) answer {
		p.must(os.Remove(p.state + "/workspaces"))
		return p.begins()
	}},
	"INVALID_INPUT_TYPE": read("Correct the arguments"), "INVALID_INPUT_FORMAT": read("Correct the arguments"), "INVALID_INPUT_VALUE": read("Correct the arguments"),
	"MISSING_REQUIRED_FIELD": read("Correct the arguments"), "ROLE_MISMATCH": read("Omit the role"), "PATH_TRAVERSAL_BLOCKED": read(`without ".."`),
	"OUTSIDE_WORKSPACE": read("inside the workspace"), "INSUFFICIENT_PERMISSIONS": read("choose an action that needs less"),
	"FILE_READ_FAILED": read("List the folder and name a file in it"), "INTERNAL_ERROR": read("Report it with the reference"), "UNKNOWN_TOOL_FAILURE": read("report it with the reference"),
	"UNAUTHORIZED_ACTION": {"have a session with the right role do it", func(p *env, _ string) answer {
		p.start().begin("ANTIGRAVITY")
		return p.last.call("submit_plan", args{"content": planText("src/**")})
	}},
	"INVALID_PATH":        {"list the folder first", func(p *env, _ string) answer { p.last.call("list_dir", args{"path": "src"}).fine(); return p.reads() }},
	"PATH_NOT_FOUND":      {"List the parent folder", func(p *env, _ string) answer { return p.last.call("list_dir", args{"path": "."}) }},
	"FILE_NOT_FOUND":      {"List the folder", func(p *env, _ string) answer { p.last.call("list_dir", args{"path": "src"}).fine(); return p.reads() }},
	"FILE_ALREADY_EXISTS": {"give its hash as previous_hash", func(p *env, _ string) answer { return p.replaces() }},
	"HASH_MISMATCH":       {"Read the file again", func(p *env, _ string) answer { return p.replaces() }},
	"FILE_WRITE_FAILED": {"choose the name of a file, or a new name", func(p *env, _ string) answer {
		return p.last.call("write_file", args{"path": "docs/reports/new.md", "content": "x"})
	}},
	"PATCH_INVALID":      {"Create a unified diff", func(p *env, _ string) answer { return p.patches() }},
	"PATCH_APPLY_FAILED": {"against its current content", func(p *env, _ string) answer { return p.patches() }},
	"PLAN_NOT_FOUND":     {"have a plan written", func(p *env, _ string) answer { p.approved("src/**"); return p.writes() }},
	"PLAN_NOT_APPROVED": {"candor workbench approve", func(p *env, suggestion string) answer {
		found := regexp.MustCompile(`candor workbench approve ([0-9a-f]{64}) \(in the folder of the workspace, with the --state of this server\)`).FindStringSubmatch(suggestion)
		if found == nil {
			p.t.Fatalf("it does not name the whole command: %s", suggestion)
		}
		p.approve(found[1])
		return p.writes()
	}},
	"PLAN_ENFORCEMENT_FAILED": {reportFirst + "Use the plan as it was approved", func(p *env, _ string) answer {
		p.reports()
		p.approved("src/**")
		return p.writes()
	}},
	"PLAN_SCOPE_VIOLATION":  {reportFirst + "Change only files that the plan covers", func(p *env, _ string) answer { p.reports(); return p.writes() }},
	"POLICY_VIOLATION":      {reportFirst + "Change the content", func(p *env, _ string) answer { p.reports(); return p.writes() }},
	"RUST_POLICY_VIOLATION": {reportFirst + "Handle the other case with match", func(p *env, _ string) answer { p.reports(); return p.writes() }},
	"PREFLIGHT_FAILED":      read("Read the output of the checks"),
	"INVARIANT_VIOLATION": {"begin a session in the intended folder", func(p *env, _ string) answer {
		return p.start().call("begin_session", args{"workspace_root": p.work + "-moved", "role": "WINDSURF"})
	}},
	"BOOTSTRAP_FAILURE": {"Call begin_session with the absolute path", func(p *env, _ string) answer { return p.begins() }},
	"SELF_AUDIT_FAILURE": {"the server restarted", func(p *env, _ string) answer {
		p.must(os.Chmod(p.state, 0o700))
		p.last.stop()
		p.start()
		return p.begins()
	}},
	"AUDIT_LOG_FAILED": {"send the same call again", func(p *env, _ string) answer {
		p.must(os.Remove(p.state + "-file"))
		return p.beginsLater()
	}},
	"AUDIT_LOCK_FAILED": {"send the same call again", func(p *env, _ string) answer { return p.beginsLater() }},
}

// beginsLater repeats begin_session until it succeeds.
func (p *env) beginsLater() (a answer) {
	wait.Until(p.t, "begin_session succeeds", func() bool { a = p.begins(); return a.code() == "" })
	return a
}

func (p *env) replaces() answer {
	return p.last.call("write_file", args{"path": "src/hello.txt", "content": "x\n", "previous_hash": p.last.hash("src/hello.txt"), "plan_hash": planOfTriggers})
}

func (p *env) patches() answer {
	p.reads().fine()
	return p.last.call("apply_patch", args{"patch": "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n", "plan_hash": planOfTriggers})
}

// TestEverySuggestionHelps causes every code and does what its suggestion says: the next call succeeds, so no suggestion leads
// to the same failure, to a lock or in a circle.
func TestEverySuggestionHelps(t *testing.T) {
	for c := range candor.Codes() {
		if c.Domain() != "kaiza" {
			continue
		}
		t.Run(c.Symbol(), func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			a := triggers[c.Symbol()](p)
			suggestion, _ := a.canonical().Path("suggestion").Str()
			how := advices[c.Symbol()]
			if how.says == "" || !strings.Contains(suggestion, how.says) {
				t.Fatalf("the suggestion does not say %q: %s", how.says, suggestion)
			}
			how.obey(p, suggestion).fine()
		})
	}
}

package workrail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestW14NoTextContradictsRetry checks the text of every failure.
func TestW14NoTextContradictsRetry(t *testing.T) {
	t.Parallel()
	for name, a := range everyFailure(t) {
		a.doesNotContradict()
		kind, _ := a.envelope().Path("retry", "kind").Str()
		text := strings.ToLower(string(a.M.Bytes()))
		if kind == "not_retryable" && (strings.Contains(text, "retry the call") || strings.Contains(text, "same call again") || strings.Contains(text, "try again")) {
			t.Errorf("%s: it says to retry: %s", name, a.M.Bytes())
		}
		if kind != "not_retryable" && strings.Contains(text, "do not retry") {
			t.Errorf("%s: it says not to retry: %s", name, a.M.Bytes())
		}
		if suggestion, _ := a.Canonical().Path("suggestion").Str(); suggestion == "" {
			t.Errorf("%s: it does not say what to do: %s", name, a.M.Bytes())
		}
	}
}

// TestW17NoPathOfTheMachineIsShown checks the answers of every tool and every failure of a server whose home, state and
// workflows are in one directory.
func TestW17NoPathOfTheMachineIsShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = []string{"HOME=" + filepath.Dir(p.state), "DEBUG_STACK=true", "MCP_ERRORS_VERBOSE=1"}
	home := filepath.Dir(p.state)
	scan := func(name string, a answer) {
		t.Helper()
		a.leaksNothing()
		if strings.Contains(string(a.M.Bytes()), home) {
			t.Errorf("%s: %s", name, a.M.Bytes())
		}
	}
	for name, a := range everyFailure(t) {
		scan(name, a)
	}
	p.write(filepath.Join(p.workflows, "broken.yaml"), "id: [\n")
	s := p.start()
	a := s.begin("plain", nil)
	id := a.data("sessionId")
	for tool, in := range map[string]args{
		"list_workflows": {}, "inspect_workflow": {"workflowId": "plain"}, "validate_workflow": {"file": "broken.yaml"}, "resume_session": {},
		"session_health": {"sessionId": id}, "export_session": {"sessionId": id},
	} {
		scan(tool, s.call(tool, in).fine())
	}
	// Errors of the disk name files: the directories of the state are replaced by files, one after the other.
	for _, folder := range []string{"sessions/" + id + "/events", "sessions/" + id, "snapshots", "sessions"} {
		name := filepath.Join(p.state, folder)
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		p.write(name, "")
		for tool, in := range map[string]args{
			"continue_workflow": {"continueToken": a.token()}, "resume_session": {"sessionId": id}, "session_health": {"sessionId": id},
			"export_session": {"sessionId": id}, "start_workflow": {"workflowId": "plain"},
		} {
			b := s.call(tool, in)
			scan(folder+" "+tool, b)
			if b.failed() {
				b.wellFormed()
			}
		}
	}
	if err := os.RemoveAll(p.workflows); err != nil {
		t.Fatal(err)
	}
	scan("no folder of workflows", s.call("list_workflows", args{}))
	newPlace(t).trailFaults(scan)
}

// trailFaults checks the answers of servers with a trail that cannot be written, was removed, or was changed.
func (p *place) trailFaults(scan func(string, answer)) {
	p.t.Helper()
	ask := func(name, code, dir string) {
		s := p.start("--ledger", dir)
		scan(name, s.call("resume_session", args{}).is(code))
		s.End()
	}
	home := filepath.Dir(p.state)
	file, removed, changed := filepath.Join(home, "a file"), filepath.Join(home, "removed"), filepath.Join(home, "changed")
	p.write(file, "")
	ask("a file in place of the trail", "AUDIT_LOG_FAILED", file)
	for _, dir := range []string{removed, changed} {
		p.start("--ledger", dir).End()
	}
	chains, err := filepath.Glob(filepath.Join(removed, "workrail-*"))
	if err != nil || len(chains) != 1 {
		p.t.Fatalf("%d chains, %v", len(chains), err)
	}
	if err := os.RemoveAll(chains[0]); err != nil {
		p.t.Fatal(err)
	}
	ask("a chain was removed", "SELF_AUDIT_FAILURE", removed)
	logs, err := filepath.Glob(filepath.Join(changed, "workrail-*", "audit-log.jsonl"))
	if err != nil || len(logs) != 1 {
		p.t.Fatalf("%d logs, %v", len(logs), err)
	}
	p.replaceIn(logs[0], `"kind"`, `"kinf"`)
	ask("the trail was changed", "SELF_AUDIT_FAILURE", changed)
}

// TestRequiredContextIsNamedBeforeAndAfterTheStart reads only texts, as a model does.
func TestRequiredContextIsNamedBeforeAndAfterTheStart(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	text := string(s.call("inspect_workflow", args{"workflowId": "bug-hunt"}).fine().M.Bytes())
	if !strings.Contains(text, "start_workflow needs the context key report: ") {
		t.Errorf("inspect_workflow does not say what the start needs: %s", text)
	}
	a := s.call("start_workflow", args{"workflowId": "bug-hunt"})
	if message, _ := a.envelope().Path("message").Str(); !strings.HasSuffix(message, ": report.") {
		t.Errorf("the message does not name the key: %q", message)
	}
}

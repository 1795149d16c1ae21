package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startFaults causes faults that the self-audit must find: one for each invariant of kaiza that the environment can
// violate.
var startFaults = map[string]struct {
	invariant string
	flags     func(p *env) []string
}{
	"root is a whole file system": {"INV_STARTUP_ROOT_SANE", func(*env) []string { return []string{"--root", "/"} }},
	"state inside the root": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string {
		return []string{"--state", filepath.Join(p.root, "state"), "--ledger", filepath.Join(p.state, "ledger")}
	}},
	"state inside the root by a link": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string {
		p.must(os.Mkdir(filepath.Join(p.root, "state"), 0o700))
		p.must(os.Symlink(filepath.Join(p.root, "state"), p.state+"-link"))
		return []string{"--state", p.state + "-link", "--ledger", filepath.Join(p.state, "ledger")}
	}},
	"trail inside the root": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string { return []string{"--ledger", filepath.Join(p.root, "ledger")} }},
	"trail inside a workspace by a link": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string {
		p.must(os.Symlink(p.work, p.state+"-link"))
		return []string{"--ledger", filepath.Join(p.state+"-link", "ledger")}
	}},
	"root inside the state": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string {
		p.must(os.MkdirAll(filepath.Join(p.state, "workspaces"), 0o700))
		return []string{"--root", filepath.Join(p.state, "workspaces")}
	}},
	"keys of another ledger inside the root": {"INV_STARTUP_STATE_OUTSIDE_ROOT", func(p *env) []string {
		p.must(os.MkdirAll(filepath.Join(p.root, "home", "candor"), 0o700))
		p.env = append(p.env, "XDG_STATE_HOME="+filepath.Join(p.root, "home"))
		return nil
	}},
	"policy inside the root": {"INV_STARTUP_POLICY_OUTSIDE_ROOT", func(p *env) []string {
		p.write("policy.yaml", "builtin: []\n")
		return []string{"--policy", p.file("policy.yaml")}
	}},
	"policy inside the root by a link": {"INV_STARTUP_POLICY_OUTSIDE_ROOT", func(p *env) []string {
		p.write("policy.yaml", "builtin: []\n")
		p.must(os.Symlink(p.file("policy.yaml"), p.state+"-policy.yaml"))
		return []string{"--policy", p.state + "-policy.yaml"}
	}},
	"check that is not there": {"INV_STARTUP_CHECKS_FOUND", func(p *env) []string {
		return []string{"--policy", p.policyFile("preflight:\n  - name: absent\n    run: [no-such-command-anywhere]\n")}
	}},
	"check inside the workspace": {"INV_STARTUP_CHECKS_FOUND", func(p *env) []string {
		return []string{"--policy", p.policyFile("preflight:\n  - name: relative\n    run: [src/check.sh]\n")}
	}},
}

func (p *env) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestAFaultAtTheStartRefusesEveryCall starts servers that fail their self-audit. They keep running and refuse every call.
func TestAFaultAtTheStartRefusesEveryCall(t *testing.T) {
	for name, fault := range startFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			flags := fault.flags(p)
			s := p.start(flags...)
			if tools := s.ask("tools/list", `{}`); !tools.Result().Present() {
				t.Errorf("it does not list its tools: %s", tools.Bytes())
			}
			for range 2 {
				for tool, arguments := range map[string]args{
					"begin_session": {"workspace_root": p.work, "role": "WINDSURF"}, "read_file": {"path": "src/hello.txt"}, "write_file": {},
				} {
					a := s.call(tool, arguments)
					a.is("SELF_AUDIT_FAILURE")
					if envelope := a.system(); !envelope.Path("invariant_id").Is(fault.invariant) {
						t.Errorf("%s: the envelope says %s", tool, envelope.Raw())
					}
					for _, secret := range []string{p.root, p.state} {
						if strings.Contains(string(a.m.Bytes()), secret) {
							t.Errorf("%s: the answer tells a path of the machine: %s", tool, a.m.Bytes())
						}
					}
				}
			}
			if code := s.End(); code != 0 {
				t.Errorf("it ended with %d", code)
			}
			if !strings.Contains(s.Stderr.String(), fault.invariant) {
				t.Errorf("the operator is not told: %s", &s.Stderr)
			}
		})
	}
}

// TestExitOnAuditEndsTheServer checks that such a server exits with --exit-on-audit.
func TestExitOnAuditEndsTheServer(t *testing.T) {
	t.Parallel()
	p, fault := newEnv(t), startFaults["check that is not there"]
	s := p.launch(append(fault.flags(p), "--exit-on-audit")...)
	if code := s.End(); code != 1 || !strings.Contains(s.Stderr.String(), fault.invariant) {
		t.Errorf("it ended with %d and said %s", code, &s.Stderr)
	}
}

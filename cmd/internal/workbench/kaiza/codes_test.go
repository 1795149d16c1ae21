package kaiza_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// executor starts a server with a session in the executor role.
func (p *env) executor(flags ...string) *stdio {
	p.t.Helper()
	s := p.start(flags...)
	s.begin("WINDSURF")
	return s
}

// policyFile writes a policy outside the root and returns its name.
func (p *env) policyFile(text string) string {
	p.t.Helper()
	name := filepath.Join(filepath.Dir(p.root), "policy.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// triggers makes the shipped server emit each code, through a condition that a client or the environment can cause.
var triggers = map[string]func(p *env) answer{
	"SESSION_NOT_INITIALIZED": func(p *env) answer { return p.start().call("read_file", args{"path": "src/hello.txt"}) },
	"SESSION_LOCKED": func(p *env) answer {
		plan := p.approved("src/**")
		s := p.executor()
		s.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
		return s.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan})
	},
	"SESSION_INITIALIZATION_FAILED": func(p *env) answer {
		s := p.start()
		if err := os.WriteFile(filepath.Join(p.state, "workspaces"), nil, 0o600); err != nil { // a file instead of a folder
			p.t.Fatal(err)
		}
		return s.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
	},
	"INVALID_INPUT_TYPE":     func(p *env) answer { return p.executor().call("read_file", args{"path": 5}) },
	"INVALID_INPUT_FORMAT":   func(p *env) answer { return p.executor().call("read_file", json.RawMessage(`"path=src"`)) },
	"INVALID_INPUT_VALUE":    func(p *env) answer { return p.executor().call("read_file", args{"path": ""}) },
	"MISSING_REQUIRED_FIELD": func(p *env) answer { return p.executor().call("read_file", args{}) },
	"UNAUTHORIZED_ACTION": func(p *env) answer {
		return p.executor().call("submit_plan", args{"content": planText("src/**")})
	},
	"INSUFFICIENT_PERMISSIONS": func(p *env) answer {
		plan := p.approved("src/**")
		return p.executor("--access", "readonly").call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan})
	},
	"ROLE_MISMATCH": func(p *env) answer {
		return p.executor().call("read_file", args{"path": "src/hello.txt", "role": "ANTIGRAVITY"})
	},
	"INVALID_PATH":           func(p *env) answer { return p.executor().call("read_file", args{"path": "src/\x00hello.txt"}) },
	"PATH_NOT_FOUND":         func(p *env) answer { return p.executor().call("list_dir", args{"path": "nowhere"}) },
	"PATH_TRAVERSAL_BLOCKED": func(p *env) answer { return p.executor().call("read_file", args{"path": "src/../../x"}) },
	"OUTSIDE_WORKSPACE": func(p *env) answer {
		if err := os.Symlink(p.state, p.file("out")); err != nil {
			p.t.Fatal(err)
		}
		return p.executor().call("read_file", args{"path": "out/version.json"})
	},
	"FILE_NOT_FOUND": func(p *env) answer { return p.executor().call("read_file", args{"path": "src/none.txt"}) },
	"FILE_ALREADY_EXISTS": func(p *env) answer {
		plan := p.approved("src/**")
		return p.executor().call("write_file", args{"path": "src/hello.txt", "content": "x", "plan_hash": plan})
	},
	"FILE_READ_FAILED": func(p *env) answer { return p.executor().call("read_file", args{"path": "src"}) },
	"FILE_WRITE_FAILED": func(p *env) answer {
		if err := os.MkdirAll(p.file("docs/reports/taken.md/inside"), 0o700); err != nil {
			p.t.Fatal(err)
		}
		return p.executor().call("write_file", args{"path": "docs/reports/taken.md", "content": "x"})
	},
	"PATCH_INVALID": func(p *env) answer {
		return p.executor().call("apply_patch", args{"patch": "this is no patch", "plan_hash": p.approved("src/**")})
	},
	"PATCH_APPLY_FAILED": func(p *env) answer {
		patch := "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n goodbye\n-world\n+moon\n"
		return p.executor().call("apply_patch", args{"patch": patch, "plan_hash": p.approved("src/**")})
	},
	"HASH_MISMATCH": func(p *env) answer {
		return p.executor().call("write_file", args{"path": "src/hello.txt", "content": "x", "previous_hash": hashOf("other"), "plan_hash": p.approved("src/**")})
	},
	"PLAN_NOT_FOUND": func(p *env) answer {
		return p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": hashOf("no plan")})
	},
	"PLAN_NOT_APPROVED": func(p *env) answer {
		planner := p.start()
		planner.begin("ANTIGRAVITY")
		plan := planner.submit(planText("src/**"))
		planner.stop()
		return p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan})
	},
	"PLAN_ENFORCEMENT_FAILED": func(p *env) answer {
		plan := p.approved("src/**")
		name := "docs/plans/" + plan + ".md"
		text, _ := p.read(name)
		p.write(name, strings.Replace(text, "src/**", "etc/**", 1))
		return p.executor().call("write_file", args{"path": "etc/a.txt", "content": "x", "plan_hash": plan, "make_dirs": true})
	},
	"PLAN_SCOPE_VIOLATION": func(p *env) answer {
		return p.executor().call("write_file", args{"path": "other.txt", "content": "x", "plan_hash": p.approved("src/**")})
	},
	"POLICY_VIOLATION": func(p *env) answer {
		policy := p.policyFile("rules:\n  - id: NO_TABS\n    pattern: '\\t'\n    message: No tabs here.\n")
		return p.executor("--policy", policy).call("write_file", args{"path": "src/a.txt", "content": "a\tb\n", "plan_hash": p.approved("src/**")})
	},
	"RUST_POLICY_VIOLATION": func(p *env) answer {
		return p.executor().call("write_file", args{"path": "src/a.rs", "content": "fn main() { None::<u8>.unwrap(); }\n", "plan_hash": p.approved("src/**")})
	},
	"PREFLIGHT_FAILED": func(p *env) answer {
		policy := p.policyFile("preflight:\n  - name: refuses\n    run: [\"false\"]\n")
		return p.executor("--policy", policy).call("write_file", args{"path": "src/a.txt", "content": "x\n", "plan_hash": p.approved("src/**")})
	},
	"INVARIANT_VIOLATION": func(p *env) answer {
		s := p.executor()
		if err := os.Rename(p.work, p.work+"-moved"); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Mkdir(p.work, 0o700); err != nil {
			p.t.Fatal(err)
		}
		return s.call("list_dir", args{"path": "."})
	},
	"BOOTSTRAP_FAILURE": func(p *env) answer {
		return p.start().call("begin_session", args{"workspace_root": "relative/path", "role": "WINDSURF"})
	},
	"SELF_AUDIT_FAILURE": func(p *env) answer {
		p.start().stop()
		if err := os.Chmod(p.state, 0o755); err != nil {
			p.t.Fatal(err)
		}
		return p.start().call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
	},
	"AUDIT_LOG_FAILED": func(p *env) answer {
		if err := os.WriteFile(p.state+"-file", nil, 0o600); err != nil {
			p.t.Fatal(err)
		}
		return p.start("--ledger", p.state+"-file").call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
	},
	"AUDIT_LOCK_FAILED": func(p *env) answer {
		p.start().stop()
		release := holdTrail(p.t, p.ledgerDir())
		defer release()
		return p.start().call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
	},
	"INTERNAL_ERROR": func(p *env) answer { return p.executor("--drill").call("drill", args{"kind": "panic"}) },
	"UNKNOWN_TOOL_FAILURE": func(p *env) answer {
		return p.executor("--drill").call("drill", args{"kind": "silent"})
	},
}

// TestK4EveryCodeIsEmitted makes the running server emit each of the 35 codes, and checks the text that a model sees and
// that every trigger has a registered code.
func TestK4EveryCodeIsEmitted(t *testing.T) {
	registered := 0
	for c := range candor.Codes() {
		if c.Domain() != "kaiza" {
			continue
		}
		registered++
		t.Run(c.Symbol(), func(t *testing.T) {
			t.Parallel()
			trigger := triggers[c.Symbol()]
			if trigger == nil {
				t.Fatal("nothing emits it")
			}
			if c.Info().Status != "active" {
				t.Errorf("it is emitted and %s in the catalogue", c.Info().Status)
			}
			p := newEnv(t)
			a := trigger(p)
			a.is(c.Symbol())
			if domain, _ := a.canonical().Path("domain").Str(); domain != "kaiza" {
				t.Errorf("it is of the domain %s", domain)
			}
			if v := a.system(); !v.Path("error_code").Is(c.Symbol()) {
				t.Errorf("the envelope says %s", v.Raw())
			}
			a.shown()
		})
	}
	if registered != 35 || len(triggers) != 35 {
		t.Errorf("%d codes are registered and %d have a trigger, and the contract has 35", registered, len(triggers))
	}
}

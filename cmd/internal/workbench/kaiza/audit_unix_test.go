//go:build unix

package kaiza_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestK20LockedAndFailedTrailHaveDifferentCodes makes the trail unavailable to a session in both ways, and restores it.
func TestK20LockedAndFailedTrailHaveDifferentCodes(t *testing.T) {
	for code, take := range map[string]func(p *env) (flags []string, giveBack func()){
		"AUDIT_LOCK_FAILED": func(p *env) ([]string, func()) { return nil, holdTrail(p.t, p.ledgerDir()) },
		"AUDIT_LOG_FAILED": func(p *env) ([]string, func()) {
			name := filepath.Join(filepath.Dir(p.root), "elsewhere") // a file instead of the folder
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				p.t.Fatal(err)
			}
			return []string{"--ledger", name}, func() { _ = os.Remove(name) }
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			plan := p.approved("src/**")
			w := p.listen()
			first := w.stateless()
			first.begin("WINDSURF")
			w.kill()

			flags, giveBack := take(p)
			c := p.listen(flags...).stateless()
			c.session = first.session
			for i, tool := range []string{"write_file", "write_file", "read_file"} {
				refused := c.call(tool, args{"path": fmt.Sprintf("src/%d.txt", i), "content": "x", "plan_hash": plan})
				if i == 2 {
					refused = c.call(tool, args{"path": "src/hello.txt"})
				}
				refused.is(code)
			}
			p.atRest(1)
			stranger := *c
			stranger.session = ""
			stranger.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"}).is(code)
			if sessions, _ := filepath.Glob(filepath.Join(p.state, "sessions", "*")); len(sessions) != 1 { // that of the first client
				t.Errorf("the sessions are %v", sessions)
			}
			giveBack()
			written := 0
			p.eventually("it is back without a restart", func() bool {
				written++
				a := c.call("write_file", args{"path": fmt.Sprintf("src/back-%d.txt", written), "content": "x", "plan_hash": plan})
				if a.code() != "" {
					a.is(code)
				}
				return a.code() == ""
			})
			p.atRest(2) // the refused calls had no effect
		})
	}
}

// TestStoppingTheServerCancelsCallsInProgress stops the server while one change is being checked and another waits for
// it. Neither takes effect, both get the same error, and the trail records it.

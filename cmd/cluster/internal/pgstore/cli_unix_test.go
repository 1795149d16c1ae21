//go:build unix

package pgstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/cluster/internal/engines"
	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// candorCluster runs a command of candor-cluster in this process.
func candorCluster(t *testing.T, home string, args ...string) (code int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := term.ProcessEnv()
	env.In, env.Out, env.Err, env.Terminal, env.Interactive = strings.NewReader(""), term.NewOutput(&stdout, false), &stderr, false, false
	env.Getenv = func(name string) string { return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[name] }
	engines.Register(env)
	code = cli.Run(env, args)
	return code, stdout.String(), stderr.String()
}

// TestCommandsOnPostgreSQL goes the way of an operator: set up, let a node join, check its rights, ship, verify.
func TestCommandsOnPostgreSQL(t *testing.T) {
	server := sharedServer(t)
	home := t.TempDir()
	admin, node := socketURL("admin", "candor", server), socketURL("candor_node_cli", "candor", server)
	step := func(want int, args ...string) string {
		t.Helper()
		code, out, complaints := candorCluster(t, home, args...)
		if code != want {
			t.Fatalf("candor %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, out, complaints)
		}
		return out + complaints
	}
	if text := step(2, "fleet", "verify", admin); !strings.Contains(text, "fleet setup") {
		t.Errorf("without a store: %s", text)
	}
	step(0, "fleet", "setup", admin)
	grant := step(0, "fleet", "join", "cli", admin)
	if server.SQL(t, "candor", "SELECT count(*) FROM pg_roles WHERE rolname = 'candor_node_cli'") == "1" {
		server.SQL(t, "candor", `DROP OWNED BY "candor_node_cli"; DROP ROLE "candor_node_cli"`)
	}
	server.SQL(t, "candor", grant)
	step(0, "fleet", "join", "cli", node, "--check")
	step(1, "fleet", "join", "cli", admin, "--check") // an administrator may do too much

	folder := filepath.Join(home, "ledger")
	storetest.WriteLedger(t, folder, 40)
	step(0, "ledger", "copy", folder, admin, "--node", "cli")
	if text := step(0, "fleet", "verify", admin); !strings.Contains(text, "OK") {
		t.Errorf("verify: %s", text)
	}
	step(0, "fleet", "stats", admin)
	step(0, "fleet", "tail", admin)
	server.SQL(t, "candor", "DELETE FROM candor.lines WHERE position = 7")
	if text := step(1, "fleet", "verify", admin); !strings.Contains(text, "cli") {
		t.Errorf("verify after the removal of an entry: %s", text)
	}
}

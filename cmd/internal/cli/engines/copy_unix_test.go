//go:build unix

package engines_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/engines"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
)

// candorCluster runs a command of candor-cluster in this process, which must succeed.
func candorCluster(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := term.ProcessEnv()
	env.In, env.Out, env.Err, env.Terminal, env.Interactive = strings.NewReader(""), term.NewOutput(&stdout, false), &stderr, false, false
	engines.Register(env)
	if code := cli.Run(env, args); code != 0 {
		t.Fatalf("candor-cluster %s: exit code %d\n%s%s", strings.Join(args, " "), code, &stdout, &stderr)
	}
	return stdout.String()
}

// TestLedgerCopyKeepsEveryByteThroughEveryEngine copies a ledger from engine to engine and back to a folder.
func TestLedgerCopyKeepsEveryByteThroughEveryEngine(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	storetest.WriteLedger(t, source, 100)
	storetest.WriteLedger(t, source, 20)
	nats := natscluster.Start(t, natscluster.Options{}).URL()
	candorCluster(t, "fleet", "setup", nats)
	candorCluster(t, "ledger", "copy", source, nats, "--node", "web-1")
	if out := candorCluster(t, "ledger", "copy", source, nats, "--node", "web-1", "--json"); !strings.Contains(out, `"copied":0,`) {
		t.Errorf("the second copy: %s", out)
	}
	candorCluster(t, "ledger", "copy", nats, filepath.Join(dir, "from-nats"), "--node", "web-1")
	sameLedger(t, source, filepath.Join(dir, "from-nats"))
	candorCluster(t, "ledger", "verify", filepath.Join(dir, "from-nats"))

	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgtest.StartWith(t, pgtest.Options{Rules: "local all all trust\n"})
		server.SQL(t, "postgres", "CREATE DATABASE candor")
		postgres := "postgres://admin@/candor?host=" + url.QueryEscape(server.Socket)
		candorCluster(t, "fleet", "setup", postgres)
		candorCluster(t, "ledger", "copy", nats, postgres)
		candorCluster(t, "ledger", "copy", postgres, "file:"+filepath.Join(dir, "store"))
		sameLedger(t, source, filepath.Join(dir, "store", "web-1"))
	})
}

// sameLedger compares the segments of two ledgers.
func sameLedger(t *testing.T, a, b string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(a, "*", "audit-log*"))
	if err != nil || len(names) < 5 {
		t.Fatalf("segments: %v, %v", names, err)
	}
	for _, name := range names {
		below, err := filepath.Rel(a, name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(b, below)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %d bytes, want %d (%v)", below, len(got), len(want), err)
		}
	}
}

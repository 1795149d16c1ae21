//go:build unix

package engines_test

import (
	"context"
	"testing"

	"github.com/candor-mcp/candor/cmd/cluster/internal/engines"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// TestMirrorOfNATSSurvivesARestartOfTheServer keeps a copy current, as the console does, while the server is killed and started again.
func TestMirrorOfNATSSurvivesARestartOfTheServer(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	candorCluster(t, "fleet", "setup", cluster.URL())
	env := term.ProcessEnv()
	engines.Register(env)
	source, _, err := env.OpenStore(t.Context(), cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close() //nolint:errcheck // the test is over
	to := filestore.Open(t.TempDir())
	defer to.Close() //nolint:errcheck // the test is over
	if err := to.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	followed := to.Follow(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- copier.Mirror(ctx, source, to, copier.Options{Problem: func(err error) { t.Log(err) }}, func(copier.Result) { close(ready) })
	}()
	<-ready

	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 300, 100)
	appendLines(t, source, chain, lines[:150])
	cluster.Servers[0].Kill()
	if err := cluster.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendLines(t, source, chain, lines[150:])
	seen := 0
	for stored, err := range followed {
		if err != nil || string(stored.Line) != string(lines[seen]) {
			t.Fatalf("line %d of the copy: %v, %.100q", seen+1, err, stored.Line)
		}
		if seen++; seen == len(lines) {
			break
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// appendLines appends lines that continue a chain from its head on, again while the server is not ready.
func appendLines(t *testing.T, store fleet.Store, chain fleet.Chain, lines [][]byte) {
	t.Helper()
	last := storetest.HeadOf(t, lines[len(lines)-1])
	first := storetest.HeadOf(t, lines[0]).Seq
	for t.Context().Err() == nil {
		head, err := store.Head(t.Context(), chain)
		if err == nil && head == last {
			return
		}
		if err == nil {
			_ = store.Append(t.Context(), chain, head, lines[head.Seq+1-first:]) // the next head shows what was stored
		}
	}
}

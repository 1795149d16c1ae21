package natsstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
)

// granted is a server with the configuration that Grant prints.
type granted struct {
	*natscluster.Cluster
	seeds  map[string]string // files by node
	reader string            // file
}

func startGranted(t *testing.T, servers int) *granted {
	t.Helper()
	reader, readerSeed := natscluster.NewUser(t)
	keys, seeds := map[string]string{}, map[string]string{}
	for _, node := range []string{"web-1", "web-2"} {
		keys[node], seeds[node] = natscluster.NewUser(t)
	}
	grant := func(node string) string { return natsstore.GrantText(natsstore.DefaultStream, node) }
	g := &granted{seeds: seeds, reader: readerSeed, Cluster: natscluster.Start(t, natscluster.Options{
		Servers:  servers,
		Accounts: func(operator string) string { return natscluster.Accounts(grant, operator, reader, keys) },
	})}
	setUp(t, g.operator(t))
	return g
}

func (g *granted) operator(t *testing.T) fleet.Store {
	t.Helper()
	return open(t, g.URL()+"?node=operator&nkey="+g.OperatorSeed)
}

func (g *granted) node(t *testing.T, node string) fleet.Store {
	t.Helper()
	return open(t, g.URL()+"?node="+node+"&nkey="+g.seeds[node])
}

func TestGrantLetsANodeDoItsWork(t *testing.T) {
	t.Parallel()
	g := startGranted(t, 3)
	store, ctx := g.node(t, "web-1"), t.Context()
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 30, 200)
	err := store.Append(ctx, chain, fleet.Head{}, lines[:1])
	for candor.CodeOf(err).Class() == candor.ClassUnavailable && ctx.Err() == nil { // its server has not heard of the stream yet
		err = store.Append(ctx, chain, fleet.Head{}, lines[:1])
	}
	if err != nil {
		t.Fatalf("one line: %v", err)
	}
	if err := store.Append(ctx, chain, storetest.HeadOf(t, lines[0]), lines[1:]); err != nil {
		t.Fatalf("many lines: %v", err)
	}
	head, err := store.Head(ctx, chain)
	if err != nil || head.Seq != 30 {
		t.Errorf("Head: %d, %v", head.Seq, err)
	}
	err = store.Append(ctx, chain, storetest.HeadOf(t, lines[0]), lines[1:])
	var conflict *fleet.ConflictError
	if !errors.As(err, &conflict) || conflict.Head != head {
		t.Errorf("Append with an old head: %v", err)
	}
	count := 0
	for stored, err := range store.Lines(ctx, chain, 0) { // needed to restore a ledger
		if err != nil {
			t.Fatal(err)
		}
		if string(stored.Line) != string(lines[count]) {
			t.Fatalf("line %d differs", count+1)
		}
		count++
	}
	if count != 30 {
		t.Errorf("%d lines, want 30", count)
	}
}

func TestGrantLetsAReaderRead(t *testing.T) {
	t.Parallel()
	g := startGranted(t, 1)
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 20, 200)
	reader := open(t, g.URL()+"?node=reader&nkey="+g.reader)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.node(t, "web-1").Append(ctx, chain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	count := 0
	for stored, err := range reader.Lines(ctx, chain, 0) {
		if err != nil || string(stored.Line) != string(lines[count]) {
			t.Fatalf("line %d: %v, %s", count+1, err, stored.Line)
		}
		count++
	}
	if count != len(lines) {
		t.Errorf("%d lines, want %d", count, len(lines))
	}
	if chains, err := reader.Chains(ctx); err != nil || len(chains) != 1 {
		t.Errorf("Chains: %v, %v", chains, err)
	}
	wantDenied(t, "Append by a reader", reader.Append(ctx, chain, storetest.HeadOf(t, lines[19]), storetest.MakeLines(chain, storetest.HeadOf(t, lines[19]), 1, 10)))
	wantDenied(t, "Remove by a reader", reader.Remove(ctx, chain, 3))
}

func wantDenied(t *testing.T, what string, err error) {
	t.Helper()
	var coded *candor.Error
	if !errors.As(err, &coded) || coded.Class() != candor.ClassDenied {
		t.Errorf("%s: %v, want an error of class denied", what, err)
	}
}

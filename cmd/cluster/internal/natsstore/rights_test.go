package natsstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
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
	g := startGranted(t, 3)
	store, ctx := g.node(t, "web-1"), t.Context()
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 30, 200)
	if err := store.Append(ctx, chain, fleet.Head{}, lines[:1]); err != nil {
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
	checks, err := store.CheckRights(ctx, "web-1")
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) < 10 {
		t.Errorf("only %d rights were checked", len(checks))
	}
	for _, check := range checks {
		if !check.OK() {
			t.Errorf("%+v", check)
		}
	}
}

func TestGrantLetsAReaderRead(t *testing.T) {
	g := startGranted(t, 1)
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 20, 200)
	reader := open(t, g.URL()+"?node=reader&nkey="+g.reader)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	followed := reader.Follow(ctx)
	if err := g.node(t, "web-1").Append(ctx, chain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	for name, seen := range map[string]func(func(fleet.Stored, error) bool){"Follow": followed, "Lines": reader.Lines(ctx, chain, 0)} {
		count := 0
		for stored, err := range seen {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if string(stored.Line) != string(lines[count]) {
				t.Fatalf("%s: line %d differs", name, count+1)
			}
			if count++; count == len(lines) {
				break
			}
		}
		if count != len(lines) {
			t.Errorf("%s returned %d lines", name, count)
		}
	}
	if chains, err := reader.Chains(ctx); err != nil || len(chains) != 1 {
		t.Errorf("Chains: %v, %v", chains, err)
	}
	wantDenied(t, "Append by a reader", reader.Append(ctx, chain, storetest.HeadOf(t, lines[19]), storetest.MakeLines(chain, storetest.HeadOf(t, lines[19]), 1, 10)))
	wantDenied(t, "Remove by a reader", reader.Remove(ctx, chain, 3))
}

// TestNodeCannotTouchOtherChains tries everything that a taken-over node can send with its credentials, also answers that are delivered to
// the chain of another node.
func TestNodeCannotTouchOtherChains(t *testing.T) {
	g := startGranted(t, 1)
	ctx := t.Context()
	victim := fleet.Chain{Node: "web-2", Name: "c"}
	lines := storetest.MakeLines(victim, fleet.Head{}, 10, 100)
	if err := g.node(t, "web-2").Append(ctx, victim, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	user, err := nats.NkeyOptionFromSeed(g.seeds["web-1"])
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := nats.Connect(g.URL(), user)
	if err != nil {
		t.Fatal(err)
	}
	defer hostile.Close()
	stream, subject := natsstore.DefaultStream, "candor.ledger.web-2.c"
	next := storetest.NextLine(victim, storetest.HeadOf(t, lines[9]), []byte("forged"))
	for _, attack := range [][3]string{
		{subject, "_INBOX.x", string(next)}, {"candor.ledger.web-2.new", "_INBOX.x", string(next)},
		{"candor.ledger.web-1.c", subject, string(next)},
		{"$JS.API.STREAM.INFO." + stream, subject, ""},
		{"$JS.API.STREAM.MSG.GET." + stream, subject, `{"last_by_subj":"candor.ledger.web-1.c"}`},
		{"$JS.API.DIRECT.GET." + stream + ".candor.ledger.web-1.c", subject, ""},
		{"candor.api.STREAM.INFO." + stream, subject, ""}, {"candor.api.STREAM.MSG.GET." + stream, subject, `{"last_by_subj":"candor.ledger.web-1.c"}`},
		{"$JS.API.STREAM.PURGE." + stream, "_INBOX.x", ""}, {"$JS.API.STREAM.DELETE." + stream, "_INBOX.x", ""},
		{"$JS.API.STREAM.MSG.DELETE." + stream, "_INBOX.x", `{"seq":3}`},
		{"$JS.API.STREAM.PURGE." + stream, "_INBOX.x", `{"filter":"` + subject + `"}`},
		{"$JS.API.STREAM.UPDATE." + stream, "_INBOX.x", `{"name":"` + stream + `","subjects":["candor.ledger.*.*"],"max_msgs":1}`},
		{"$JS.API.STREAM.CREATE.EVIL", "_INBOX.x", `{"name":"EVIL","subjects":["evil"],"sources":[{"name":"` + stream + `"}]}`},
		{"$JS.API.CONSUMER.CREATE." + stream, "_INBOX.x", `{"stream_name":"` + stream + `","config":{"deliver_subject":"` + subject + `"}}`},
	} {
		if err := hostile.PublishRequest(attack[0], attack[1], []byte(attack[2])); err != nil {
			t.Fatal(err)
		}
	}
	// The last request of the same connection is answered after the others were handled.
	if _, err := hostile.Request("candor.api.STREAM.INFO."+stream, nil, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	operator := g.operator(t)
	if head, err := operator.Head(ctx, victim); err != nil || head != storetest.HeadOf(t, lines[9]) {
		t.Errorf("the head of the other node is entry %d, %v", head.Seq, err)
	}
	count := 0
	for stored, err := range operator.Lines(ctx, victim, 0) {
		if err != nil || string(stored.Line) != string(lines[count]) {
			t.Fatalf("line %d: %v, %s", count+1, err, stored.Line)
		}
		count++
	}
	if count != len(lines) {
		t.Errorf("%d lines, want %d", count, len(lines))
	}
	chains, err := operator.Chains(ctx)
	if err != nil || len(chains) != 2 || chains[0].Node != "web-1" {
		t.Errorf("Chains: %v, %v, want those of web-1 and web-2", chains, err)
	}
}

func TestCheckRightsFindsTooManyRights(t *testing.T) {
	key, seed := natscluster.NewUser(t)
	limited, limitedSeed := natscluster.NewUser(t)
	cluster := natscluster.Start(t, natscluster.Options{Users: []string{
		"{ nkey: " + key + " }",
		"{ nkey: " + limited + `, permissions: { publish: ["candor.ledger.web-1.*", "$JS.API.STREAM.INFO.CANDOR", "$JS.API.STREAM.MSG.GET.CANDOR"], subscribe: "_INBOX_web-1.>" } }`,
	}})
	operator := open(t, cluster.URL()+"?node=operator&nkey="+cluster.OperatorSeed)
	setUp(t, operator)
	chain := fleet.Chain{Node: "web-2", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 5, 100)
	if err := operator.Append(t.Context(), chain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	all := wrongRights(t, open(t, cluster.URL()+"?node=web-1&nkey="+seed))
	for _, want := range []string{
		"append to a chain of another node", "purge messages", "delete the stream", "change the stream", "restore the stream", "create a consumer", "have answers delivered",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("a user with all rights: %q was not reported in %q", want, all)
		}
	}
	few := wrongRights(t, open(t, cluster.URL()+"?node=web-1&nkey="+limitedSeed))
	if few != "have answers delivered to a chain of another node" {
		t.Errorf("a user with permissions in the account of the stream: %q", few)
	}
	if head, err := operator.Head(t.Context(), chain); err != nil || head.Seq != 5 {
		t.Errorf("the check has changed the stream: %d, %v", head.Seq, err)
	}
	if chains, err := operator.Chains(t.Context()); err != nil || len(chains) != 1 {
		t.Errorf("the check has added a chain: %v, %v", chains, err)
	}
}

func wrongRights(t *testing.T, store fleet.Store) string {
	t.Helper()
	checks, err := store.CheckRights(t.Context(), "web-1")
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, check := range checks {
		if !check.OK() {
			wrong = append(wrong, check.What)
		}
	}
	return strings.Join(wrong, "; ")
}

func wantDenied(t *testing.T, what string, err error) {
	t.Helper()
	var coded *candor.Error
	if !errors.As(err, &coded) || coded.Class() != candor.ClassDenied {
		t.Errorf("%s: %v, want an error of class denied", what, err)
	}
}

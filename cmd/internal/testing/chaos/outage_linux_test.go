package chaos

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// newStore starts servers, sets up the store, and returns an operator's view of it.
func newStore(t *testing.T, o natscluster.Options) (*natscluster.Cluster, fleet.Store) {
	t.Helper()
	o.Servers = 3
	cluster := natscluster.Start(t, o)
	store, err := openStore(t.Context(), cluster.URL()+"?node=operator")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	return cluster, store
}

// ledgerURL returns the value of --ledger for a node. The driver checks how durable the store is at the monitoring addresses.
func ledgerURL(cluster *natscluster.Cluster, mode fleet.Mode, node, folder string) string {
	return cluster.URL() + "?" + url.Values{"node": {node}, "ack": {string(mode)}, "dir": {folder}, "monitor": {cluster.MonitorURLs()}}.Encode()
}

func killAll(cluster *natscluster.Cluster) {
	for _, server := range cluster.Servers {
		server.Kill()
	}
}

func startAll(t *testing.T, cluster *natscluster.Cluster) {
	t.Helper()
	for _, server := range cluster.Servers {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cluster.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
}

var (
	waitingEntries = regexp.MustCompile(`"waiting":([0-9]+)`)
	reference      = regexp.MustCompile(`\\?"ref\\?":\\?"([^"\\]+)`)
)

// backlog returns how many entries wait for the store, as /status says.
func (g *gateway) backlog(t *testing.T) int {
	t.Helper()
	page, err := g.get(t.Context(), "/status")
	if err != nil {
		t.Fatal(err)
	}
	found := waitingEntries.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("/status does not show the backlog: %s", page)
	}
	count, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// TestR17CallsGoOnWhileTheClusterIsAway has two nodes with local acknowledgement, a gateway and a wrapped server. While all servers of the
// cluster are down both answer as before, and the store gets everything when it is back.
func TestR17CallsGoOnWhileTheClusterIsAway(t *testing.T) {
	t.Parallel()
	if *rounds == 1 {
		t.Skip("only with the flag -rounds: starts three servers and two commands")
	}
	cluster, store := newStore(t, natscluster.Options{Lazy: true})
	upstream := newFailingServer(t)
	home := t.TempDir()
	folder, wrapped := filepath.Join(home, "gateway"), filepath.Join(home, "wrap")
	g := startGateway(t, home, ledgerURL(cluster, fleet.ModeLocal, "gateway", folder), upstream.URL+"/mcp")
	w := startWrap(t, home, ledgerURL(cluster, fleet.ModeLocal, "wrap", wrapped))
	const each = 50
	calls := func(first int) {
		for id := first; id < first+each; id++ {
			answer, err := g.answer(t.Context(), http.DefaultClient, id)
			if err != nil || !strings.Contains(answer, "RATE_LIMITED") {
				t.Fatalf("call %d: %v: %s", id, err, answer)
			}
			if answer := w.call(id); !strings.Contains(answer, `"isError":true`) || strings.Contains(answer, "AUDIT_LOG_FAILED") {
				t.Fatalf("call %d of the wrapped server: %s", id, answer)
			}
		}
	}
	calls(1)
	wait.For(t, "the first entries to be shipped", func() error { return empty(g.backlog(t)) })
	killAll(cluster)
	calls(1 + each)
	if got := g.backlog(t); got < each {
		t.Errorf("%d entries wait for the store, want at least %d", got, each)
	}
	startAll(t, cluster)
	wait.For(t, "the backlog to be shipped", func() error { return empty(g.backlog(t)) })
	if counted := g.metric("mcp_errors_total"); counted != 2*each {
		t.Errorf("%d failures are counted, want %d", counted, 2*each)
	}
	// A process that ends before it is connected again leaves its backlog to the next one.
	wait.For(t, "what the wrapped server recorded to be shipped", func() error { return sameAsLedger(t.Context(), store, "wrap", wrapped) })
	g.signal(syscall.SIGTERM)
	if err := w.stdin.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range []*program{g.program, w.program} {
		if code := p.wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, p.said)
		}
	}
	for node, dir := range map[string]string{"gateway": folder, "wrap": wrapped} {
		if got := failuresIn(t, dir); got != 2*each {
			t.Errorf("%s: the ledger has %d failures, want %d", node, got, 2*each)
		}
		wait.For(t, "the store to have the ledger of "+node, func() error { return sameAsLedger(t.Context(), store, node, dir) })
	}
}

func empty(backlog int) error {
	if backlog > 0 {
		return fmt.Errorf("%d entries wait", backlog)
	}
	return nil
}

// wrap is candor-cluster wrap around a server with a failing tool.
type wrap struct {
	*program
	answers *bufio.Scanner
}

func startWrap(t *testing.T, home, ledger string) *wrap {
	t.Helper()
	p := startProgram(t, home, "wrap", "--ledger", ledger, "--witness-copy", "none", "--",
		"env", "-u", roleVariable, load.Env+"="+load.Lean, os.Args[0])
	return &wrap{p, bufio.NewScanner(p.stdout)}
}

// call makes one call of the failing tool and returns the answer.
func (w *wrap) call(id int) string {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`+"\n", id, load.Fail); err != nil {
		w.t.Fatalf("%v; it said %s", err, w.said)
	}
	if !w.answers.Scan() {
		w.t.Fatalf("no answer; it said %s", w.said)
	}
	return w.answers.Text()
}

// TestR17NothingIsAcknowledgedWithoutTheStore has two gateways with entries that need the store. While its servers are down their answers are
// AUDIT_LOG_FAILED, and every failure that was answered otherwise is in the store afterwards.
func TestR17NothingIsAcknowledgedWithoutTheStore(t *testing.T) {
	t.Parallel()
	if *rounds == 1 {
		t.Skip("only with the flag -rounds: waits for the end of the time in which a store must confirm")
	}
	cluster, store := newStore(t, natscluster.Options{})
	upstream := newFailingServer(t)
	modes := []fleet.Mode{fleet.ModeBoth, fleet.ModeQuorum}
	folders := map[fleet.Mode]string{}
	gates := map[fleet.Mode]*gateway{}
	for _, mode := range modes {
		folders[mode] = filepath.Join(t.TempDir(), "ledger")
		gates[mode] = startGateway(t, t.TempDir(), ledgerURL(cluster, mode, string(mode), folders[mode]), upstream.URL+"/mcp")
	}
	var mu sync.Mutex
	acknowledged := map[fleet.Mode][]string{}
	// calls makes calls at the same time and returns how many were refused.
	calls := func(first int) (refused int) {
		var all sync.WaitGroup
		for _, mode := range modes {
			for id := first; id < first+20; id++ {
				all.Go(func() {
					answer, err := gates[mode].answer(t.Context(), http.DefaultClient, id)
					mu.Lock()
					defer mu.Unlock()
					switch found := reference.FindStringSubmatch(answer); {
					case err != nil || found == nil:
						t.Errorf("ack=%s, call %d: %v: %s", mode, id, err, answer)
					case strings.Contains(answer, "AUDIT_LOG_FAILED"):
						refused++
					default:
						acknowledged[mode] = append(acknowledged[mode], found[1])
					}
				})
			}
		}
		all.Wait()
		return refused
	}
	if refused := calls(1); refused > 0 {
		t.Errorf("%d calls were refused before the outage", refused)
	}
	killAll(cluster)
	if refused := calls(101); refused != 40 {
		t.Errorf("%d of 40 calls were refused while the store was away", refused)
	}
	startAll(t, cluster)
	wait.For(t, "calls to be recorded again", func() error {
		if calls(201) > 0 {
			return fmt.Errorf("calls are refused")
		}
		return nil
	})
	for _, mode := range modes {
		gates[mode].signal(syscall.SIGTERM)
		if code := gates[mode].wait(); code != 0 {
			t.Errorf("ack=%s: exit code %d: %s", mode, code, gates[mode].said)
		}
		stored := nodeText(t.Context(), t, store, string(mode))
		for _, ref := range acknowledged[mode] {
			if !bytes.Contains(stored, []byte(ref)) {
				t.Errorf("ack=%s: the failure %s was acknowledged and is not in the store", mode, ref)
			}
		}
		wait.For(t, "the store to have the ledger", func() error { return sameAsLedger(t.Context(), store, string(mode), folders[mode]) })
	}
}

// nodeText returns all lines of a node.
func nodeText(ctx context.Context, t *testing.T, store fleet.Store, node string) []byte {
	t.Helper()
	chains, err := store.Chains(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, chain := range chains {
		if chain.Node != node {
			continue
		}
		for line, err := range store.Lines(ctx, chain, 0) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(append(out, line.Line...), '\n')
		}
	}
	return out
}

//go:build unix

package sizing

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/pgstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
	"github.com/candor-mcp/candor/ledger"
)

var measureNow = flag.Bool("measure", false, "measure, and write testdata/measured.json and docs/sizing.md")

// What is measured. Every number of nodes is measured in each round, so that other load on the machine affects all alike. The fastest
// round counts: other load can only make a round slower.
var counts = []int{1, 2, 4, 8}

const (
	rounds  = 5
	batch   = 64 // entries in one call of Append
	batches = 25 // that a node stores in a round
	callers = 8  // that append to one ledger at the same time
)

// TestMeasure measures the local ledger and the stores. `make sizing` runs it.
func TestMeasure(t *testing.T) {
	if !*measureNow {
		t.Skip("-measure is not set: it takes minutes, and needs an idle machine")
	}
	m := Measured{When: time.Now().UTC().Format(time.DateOnly), Machine: fmt.Sprintf("%d cores, %s/%s, all nodes and servers on one machine", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)}
	nodes := newNodes(t, slices.Max(counts))
	m.Line = nodes[0].lineSize()
	m.Ledger, m.Local = measureLedgers(t)
	m.Stores = append(m.Stores, measureNATS(t, nodes))
	if e, ok := measurePostgres(t, nodes); ok {
		m.Stores = append(m.Stores, e)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	if err := os.WriteFile(measuredFile, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	writePage(t, m)
}

// node is a writer with lines that no store has yet.
type node struct {
	chain fleet.Chain
	lines [][]byte
}

func (n *node) lineSize() float64 {
	total := 0
	for _, line := range n.lines {
		total += len(line) + 1
	}
	return float64(total) / float64(len(n.lines))
}

// failure is a typical entry: a failed call through a gateway.
func failure(i int) ledger.Entry {
	e := ledger.EntryOf(candor.ToolFailure(candor.CodeRateLimited, "search_issues", ""))
	e.Retry = candor.RetryIn(1500 * time.Millisecond)
	e.SessionID, e.Outcome, e.Latency = fmt.Sprintf("session-%d", i%50), ledger.OutcomeError, time.Duration(i%900)*time.Millisecond
	e.Cause = fmt.Sprintf("upstream answered 429 Too Many Requests after %d ms: quota of installation %d exceeded", i%900, i%7)
	e.Args = fmt.Appendf(nil, `{"query":"is:open label:bug page:%d"}`, i)
	e.Envelope = fmt.Appendf(nil, `{"code":"RATE_LIMITED","number":%d,"retry":{"kind":"retryable_after_ms","after_ms":1500},"message":"The service asks to wait."}`, i)
	return e
}

// appendAll appends entries with several callers at the same time.
func appendAll(ctx context.Context, l *ledger.Ledger, count int) error {
	var next atomic.Int64
	errs := make(chan error, callers)
	for range callers {
		go func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				if _, err := l.Append(ctx, failure(int(i))); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range callers {
		all = errors.Join(all, <-errs)
	}
	return all
}

// newNodes returns nodes with enough lines for all rounds of one engine, written by real ledgers.
func newNodes(t *testing.T, count int) []*node {
	t.Helper()
	var nodes []*node
	for i := range count {
		dir := filepath.Join(t.TempDir(), "ledger")
		l, err := ledger.Open(dir, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		used := 0
		for _, n := range counts {
			if i < n {
				used += rounds * batches * batch
			}
		}
		if err := errors.Join(appendAll(t.Context(), l, used), l.Close()); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, &node{lines: linesOf(t, dir)})
		nodes[i].chain = fleet.Chain{Node: fmt.Sprintf("node-%d", i+1), Name: chainOf(t, nodes[i].lines[0])}
	}
	return nodes
}

func linesOf(t *testing.T, dir string) (lines [][]byte) {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	for l, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Clone(l.Raw()))
	}
	return lines
}

func chainOf(t *testing.T, line []byte) string {
	t.Helper()
	l, err := ledger.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	return l.Chain()
}

// measureLedgers measures durable appends to the nodes' own ledgers, and the bytes that an entry takes there.
func measureLedgers(t *testing.T) (Engine, float64) {
	t.Helper()
	const entries = 4000 // of each node in a round
	rates := map[int][]float64{}
	var size, written int64
	for range rounds {
		for _, n := range counts {
			var ledgers []*ledger.Ledger
			dir := t.TempDir()
			for i := range n {
				l, err := ledger.Open(filepath.Join(dir, fmt.Sprint(i)), ledger.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ledgers = append(ledgers, l)
			}
			took := together(t, n, func(i int) error { return appendAll(t.Context(), ledgers[i], entries) })
			rates[n] = append(rates[n], float64(n*entries)/took.Seconds())
			for _, l := range ledgers {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			size, written = size+folderSize(t, dir), written+int64(n*entries)
		}
	}
	local := float64(size) / float64(written)
	return Engine{Name: "own ledger", Batch: callers, Points: fastest(rates), Copies: 1, Disk: local}, local
}

// together runs a function for every node at the same time.
func together(t *testing.T, n int, run func(i int) error) time.Duration {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	start := time.Now()
	for i := range n {
		all.Go(func() { errs[i] = run(i) })
	}
	all.Wait()
	took := time.Since(start)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return took
}

func fastest(rates map[int][]float64) (points []Point) {
	for _, n := range counts {
		points = append(points, Point{Nodes: n, Rate: slices.Max(rates[n])})
	}
	return points
}

// measureStore measures a store to which every node has its own connection. It returns the points and the number of entries stored.
func measureStore(t *testing.T, nodes []*node, open func(node string) fleet.Store) ([]Point, int) {
	t.Helper()
	heads := make([]fleet.Head, len(nodes))
	used := make([]int, len(nodes))
	stores := make([]fleet.Store, len(nodes))
	for i, n := range nodes {
		stores[i] = open(n.chain.Node)
	}
	rates, stored := map[int][]float64{}, 0
	for range rounds {
		for _, n := range counts {
			took := together(t, n, func(i int) error {
				for range batches {
					lines := nodes[i].lines[used[i] : used[i]+batch]
					if err := stores[i].Append(t.Context(), nodes[i].chain, heads[i], lines); err != nil {
						return err
					}
					used[i] += batch
					last, err := fleet.HeadOf(nodes[i].chain, lines[batch-1])
					if err != nil {
						return err
					}
					heads[i] = last
				}
				return nil
			})
			rates[n] = append(rates[n], float64(n*batches*batch)/took.Seconds())
			stored += n * batches * batch
		}
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fastest(rates), stored
}

// measureNATS measures three servers that sync every message before they acknowledge it.
func measureNATS(t *testing.T, nodes []*node) Engine {
	t.Helper()
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3})
	open := func(url string) func(node string) fleet.Store {
		return func(node string) fleet.Store { return openStore(t, natsstore.Engine{}, url+"?node="+node) }
	}
	operator := open(cluster.URL())("operator")
	if err := operator.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	before := serversSize(t, cluster)
	points, stored := measureStore(t, nodes, open(cluster.URL()))
	e := Engine{Name: "NATS JetStream, 3 servers, sync always", Batch: batch, Points: points, Copies: 3, Disk: float64(serversSize(t, cluster)-before) / float64(stored)}
	proxy := newProxy(t, "tcp", cluster.Servers[0].ClientAddress())
	e.Wire = measureWire(t, proxy, open("nats://"+proxy.address()))
	e.Subject = measureMemory(t, cluster, operator)
	if err := operator.Close(); err != nil {
		t.Fatal(err)
	}
	return e
}

// measurePostgres measures one server that syncs every transaction. It reports false if PostgreSQL is not installed.
func measurePostgres(t *testing.T, nodes []*node) (e Engine, ok bool) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		server := pgtest.StartWith(t, pgtest.Options{
			Rules: "local all all trust\n", Settings: []string{"fsync=on", "synchronous_commit=on", "max_connections=200"},
		})
		server.SQL(t, "postgres", "CREATE DATABASE candor")
		at := func(role, address string) string {
			return "postgres://" + role + "@/candor?" + url.Values{"host": {address}, "sslmode": {"disable"}, "node": {"n"}}.Encode()
		}
		admin := openStore(t, pgstore.Engine{}, at("admin", server.Socket))
		defer admin.Close() //nolint:errcheck // only used for setting up
		if err := admin.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
			t.Fatal(err)
		}
		open := func(node string) fleet.Store {
			grant, err := admin.Grant(node)
			if err != nil {
				t.Fatal(err)
			}
			server.SQL(t, "candor", grant)
			return openStore(t, pgstore.Engine{}, at("candor_node_"+node, server.Socket))
		}
		points, stored := measureStore(t, nodes, open)
		used, err := strconv.ParseInt(strings.TrimSpace(server.SQL(t, "candor",
			"SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'candor' AND c.relkind = 'r'")), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		e = Engine{Name: "PostgreSQL, 1 server", Batch: batch, Points: points, Copies: 1, Disk: float64(used) / float64(stored)}
		through := newProxy(t, "unix", filepath.Join(server.Socket, ".s.PGSQL.5432"))
		e.Wire = measureWire(t, through, func(node string) fleet.Store {
			if err := open(node).Close(); err != nil { // creates the role
				t.Fatal(err)
			}
			host, port, _ := strings.Cut(through.address(), ":")
			return openStore(t, pgstore.Engine{}, at("candor_node_"+node, host)+"&port="+port)
		})
		ok = true
	})
	return e, ok
}

func openStore(t *testing.T, engine fleet.Engine, url string) fleet.Store {
	t.Helper()
	at, err := fleet.ParseLocation(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := engine.Open(t.Context(), at, fleet.OpenOptions{Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measureWire returns the bytes that a node sends per entry, batches that are full.
func measureWire(t *testing.T, p *proxy, open func(node string) fleet.Store) float64 {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(appendAll(t.Context(), l, 20*batch), l.Close()); err != nil {
		t.Fatal(err)
	}
	lines := linesOf(t, dir)
	chain := fleet.Chain{Node: "wire", Name: chainOf(t, lines[0])}
	store, head := open("wire"), fleet.Head{}
	for i := 0; i+batch <= len(lines); i += batch {
		if err := store.Append(t.Context(), chain, head, lines[i:i+batch]); err != nil {
			t.Fatal(err)
		}
		if head, err = fleet.HeadOf(chain, lines[i+batch-1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return float64(p.sent.Load()) / float64(len(lines)/batch*batch)
}

// measureMemory returns the memory that a server needs for a chain: it stores one line of many chains.
func measureMemory(t *testing.T, cluster *natscluster.Cluster, store fleet.Store) float64 {
	t.Helper()
	const chains = 4000
	before := residentSize(t, cluster)
	together(t, 16, func(worker int) error {
		for i := worker; i < chains; i += 16 {
			dir := filepath.Join(t.TempDir(), "ledger")
			l, err := ledger.Open(dir, ledger.Options{})
			if err == nil {
				err = l.Close()
			}
			if err != nil {
				return err
			}
			lines := linesOf(t, dir)
			chain := fleet.Chain{Node: fmt.Sprintf("many-%d", i%100), Name: chainOf(t, lines[0])}
			if err := store.Append(t.Context(), chain, fleet.Head{}, lines); err != nil {
				return err
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		return nil
	})
	return max(0, float64(residentSize(t, cluster)-before)/chains/float64(len(cluster.Servers)))
}

func serversSize(t *testing.T, cluster *natscluster.Cluster) (total int64) {
	t.Helper()
	for _, server := range cluster.Servers {
		total += folderSize(t, server.Dir)
	}
	return total
}

func folderSize(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // a server has removed it meanwhile
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return total
}

// residentSize returns the memory of all servers.
func residentSize(t *testing.T, cluster *natscluster.Cluster) (total int64) {
	t.Helper()
	for _, server := range cluster.Servers {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		body, err := fetch(ctx, server.MonitorURL()+"/varz")
		cancel()
		var state struct {
			Mem int64 `json:"mem"`
		}
		if err = errors.Join(err, json.Unmarshal(body, &state)); err != nil {
			t.Fatal(err)
		}
		total += state.Mem
	}
	return total
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(response.Body, 1<<20))
}

// proxy counts what clients send through it.
type proxy struct {
	listener net.Listener
	network  string
	to       string
	sent     atomic.Int64
}

func newProxy(t *testing.T, network, to string) *proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, network: network, to: to}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // the test sees a missing answer
	server, err := (&net.Dialer{}).DialContext(context.Background(), p.network, p.to)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // as above
	go func() { _, _ = io.Copy(client, server) }()
	_, _ = io.Copy(io.MultiWriter(server, counter{&p.sent}), client)
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// writePage replaces the figures of docs/sizing.md.
func writePage(t *testing.T, m Measured) {
	t.Helper()
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := replaceFigures(string(page), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pageFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

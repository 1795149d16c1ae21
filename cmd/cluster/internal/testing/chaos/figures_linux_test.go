package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
	"github.com/candor-mcp/candor/ledger"
)

var figures = flag.String("figures", "", "file that TestFiguresOfEnginesAndModes writes its table to; empty skips the test")

const (
	passes        = 5
	passTime      = 2 * time.Second
	chainsAtATime = 4    // that append to a store
	batchLines    = 64   // lines of one append
	callers       = 32   // that record in a ledger
	steadyRate    = 1000 // entries per second, where the time of each is measured
	lineBytes     = 640
)

// measured is one engine or mode with its results, one per pass: entries per second, or microseconds per entry.
type measured struct {
	name    string
	run     func(ctx context.Context, pass int) (result float64, err error)
	results []float64
}

func (m *measured) median() float64 {
	sorted := slices.Sorted(slices.Values(m.results))
	return sorted[len(sorted)/2]
}

// TestFiguresOfEnginesAndModes measures how many entries each engine and each mode acknowledges in a second. All take turns in one run, so
// that a slow moment of the machine meets all of them.
func TestFiguresOfEnginesAndModes(t *testing.T) {
	if *figures == "" {
		t.Skip("only with the flag -figures")
	}
	single := natscluster.Start(t, natscluster.Options{})
	three := natscluster.Start(t, natscluster.Options{Servers: 3})
	lazy := natscluster.Start(t, natscluster.Options{Servers: 3, Lazy: true})
	database := pgtest.StartWith(t, pgtest.Options{Rules: "local all all trust\n", Settings: []string{"fsync=on"}})
	database.SQL(t, "postgres", "CREATE DATABASE candor")
	stores := []*measured{
		bareJetStream(t, "JetStream alone, three servers, synced", three),
		bareJetStream(t, "JetStream alone, three servers, not synced", lazy),
		barePostgres(t, "PostgreSQL alone", database),
		engine(t, "file:", "file:"+t.TempDir(), 0),
		engine(t, "nats: one server, synced", single.URL(), 1),
		engine(t, "nats: three servers, synced", three.URL(), 3),
		engine(t, "nats: three servers, not synced", lazy.URL(), 3),
		engine(t, "postgres:", postgresURL(database), 0),
	}
	quorum := three.URL() + "?monitor=" + url.QueryEscape(three.MonitorURLs())
	modes := []struct {
		name        string
		acknowledge fleet.Mode
		at          string
	}{
		{"ledger alone", "", ""},
		{"ack=local, three servers, not synced", fleet.ModeLocal, lazy.URL()},
		{"ack=local, three servers, synced", fleet.ModeLocal, three.URL()},
		{"ack=both, three servers, synced", fleet.ModeBoth, quorum},
		{"ack=quorum, three servers, synced", fleet.ModeQuorum, quorum},
		{"ack=local, postgres:", fleet.ModeLocal, postgresURL(database)},
		{"ack=both, postgres:", fleet.ModeBoth, postgresURL(database)},
	}
	var nodes, steady []*measured
	for _, m := range modes {
		nodes = append(nodes, mode(t, m.name, m.acknowledge, m.at, saturate))
		steady = append(steady, mode(t, m.name, m.acknowledge, m.at, appendSteadily))
	}
	before := loadAverage()
	for pass := range passes {
		for _, m := range slices.Concat(stores, nodes, steady) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			result, err := m.run(ctx, pass)
			cancel()
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			m.results = append(m.results, result)
		}
	}
	text := page(stores, nodes, steady, before+" at the beginning and "+loadAverage()+" at the end")
	t.Log("\n" + text)
	if err := os.WriteFile(*figures, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loadAverage returns the load average of the last minute: figures from a machine that did other work are worth less.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// page returns the tables as Markdown.
func page(stores, nodes, steady []*measured, load string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `# Figures of a fleet

Measured on %s on a machine with %d processor cores, on which the servers and their clients ran, by `+"`make bench-fleet`"+`. Each figure is the
median of %d passes of %v; engines and modes took turns in one run. Compare figures of one table with each other, not with those of other machines.
The load average was %s.

## Engines

Entries that a store acknowledges in a second: %d writers, each with a chain of its own, append %d entries of about %d bytes at a time. The lines that say *alone* drive
JetStream or PostgreSQL with the same bytes and without Candor: no compare-and-set and no check of the lines. PostgreSQL is one server over a socket, with fsync on. The ratio is to the first row.

`, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), passes, passTime, load, chainsAtATime, batchLines, lineBytes)
	table(&out, "entries/s", stores)
	fmt.Fprintf(&out, `
## Modes

Entries that a node acknowledges in a second: %d callers append entries in one ledger, and each waits for its own. The ratio is to the ledger without a store. With ack=local the store gets
the entries meanwhile, on the same %d cores.

`, callers, runtime.NumCPU())
	table(&out, "entries/s", nodes)
	fmt.Fprintf(&out, `
## Time of one entry

Microseconds until an entry is acknowledged (the median of a pass) when %d arrive in a second, evenly. The ratio is to the ledger without a store: what shipping costs a node that is not at its
limit.

`, steadyRate)
	table(&out, "µs", steady)
	return out.String()
}

// table writes the medians, and their ratio to the first row.
func table(out *strings.Builder, unit string, rows []*measured) {
	out.WriteString("| | " + unit + " | lowest | highest | ratio |\n|---|---|---|---|---|\n")
	for _, m := range rows {
		fmt.Fprintf(out, "| %s | %.0f | %.0f | %.0f | %.2f |\n", m.name, m.median(), slices.Min(m.results), slices.Max(m.results), m.median()/rows[0].median())
	}
}

// appender makes the lines of one chain.
type appender struct {
	chain fleet.Chain
	head  fleet.Head
}

// lines returns the next entries of the chain.
func (a *appender) lines(count int) [][]byte {
	out := make([][]byte, 0, count)
	padding := strings.Repeat("x", lineBytes-320)
	for range count {
		prev := a.head.Hash
		if a.head.Seq == 0 {
			prev = sha256.Sum256([]byte("candor ledger " + a.chain.Name))
		}
		body := fmt.Appendf(nil, `{"v":1,"chain":%q,"seq":%d,"time":"2026-01-01T00:00:00.000000Z","prev":%q,"kind":"attempt","tool":"figures","cause":%q`,
			a.chain.Name, a.head.Seq+1, hex.EncodeToString(prev[:]), padding)
		a.head = fleet.Head{Seq: a.head.Seq + 1, Hash: sha256.Sum256(body)}
		out = append(out, fmt.Appendf(body, `,"hash":"%x"}`, a.head.Hash))
	}
	return out
}

// inChains runs one function for each of several new chains at the same time, until the pass is over. The function appends a batch.
func inChains(pass int, kind string, batch func(a *appender) error) (rate float64, err error) {
	var writers sync.WaitGroup
	var entries atomic.Int64
	failures := make(chan error, chainsAtATime)
	began := time.Now()
	for i := range chainsAtATime {
		a := &appender{chain: fleet.Chain{Node: "figures", Name: fmt.Sprintf("%s-20260101T000000000Z-%04x%04x", kind, pass, i)}}
		writers.Go(func() {
			for time.Since(began) < passTime {
				if err := batch(a); err != nil {
					failures <- err
					return
				}
				entries.Add(batchLines)
			}
		})
	}
	writers.Wait()
	close(failures)
	return float64(entries.Load()) / time.Since(began).Seconds(), <-failures
}

// engine measures a store.
func engine(t *testing.T, name, at string, replicas int) *measured {
	t.Helper()
	store, err := openStore(t.Context(), withParameter(at, "node=figures"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Setup(t.Context(), fleet.SetupOptions{Replicas: replicas}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &measured{name: name, run: func(ctx context.Context, pass int) (float64, error) {
		return inChains(pass, "engine", func(a *appender) error {
			after := a.head
			return store.Append(ctx, a.chain, after, a.lines(batchLines))
		})
	}}
}

func withParameter(at, parameter string) string {
	if strings.Contains(at, "?") {
		return at + "&" + parameter
	}
	return at + "?" + parameter
}

// bareJetStream publishes with as many messages on the way as a batch has lines.
func bareJetStream(t *testing.T, name string, cluster *natscluster.Cluster) *measured {
	t.Helper()
	connection, err := nats.Connect(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	js, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.>"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	return &measured{name: name, run: func(ctx context.Context, pass int) (float64, error) {
		return inChains(pass, "bare", func(a *appender) error {
			var acks []jetstream.PubAckFuture
			for _, line := range a.lines(batchLines) {
				ack, err := js.PublishAsync("bare."+a.chain.Name, line)
				if err != nil {
					return err
				}
				acks = append(acks, ack)
			}
			for _, ack := range acks {
				select {
				case <-ack.Ok():
				case err := <-ack.Err():
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}}
}

func postgresURL(server *pgtest.Server) string {
	return "postgres://admin@/candor?host=" + url.QueryEscape(server.Socket)
}

// barePostgres inserts the rows of a batch in one transaction and one round trip.
func barePostgres(t *testing.T, name string, server *pgtest.Server) *measured {
	t.Helper()
	connections := make(chan *pgx.Conn, chainsAtATime)
	for range chainsAtATime {
		connection, err := pgx.Connect(t.Context(), postgresURL(server))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close(context.Background()) })
		connections <- connection
	}
	server.SQL(t, "candor", "CREATE TABLE bare (chain text, seq bigint, line bytea, PRIMARY KEY (chain, seq))")
	return &measured{name: name, run: func(ctx context.Context, pass int) (float64, error) {
		return inChains(pass, "bare", func(a *appender) error {
			connection := <-connections
			defer func() { connections <- connection }()
			seq := a.head.Seq
			batch := &pgx.Batch{}
			for _, line := range a.lines(batchLines) {
				seq++
				batch.Queue("INSERT INTO bare VALUES ($1, $2, $3)", a.chain.Name, seq, line)
			}
			return connection.SendBatch(ctx, batch).Close()
		})
	}}
}

// mode measures a ledger whose entries are shipped to a store. Without a mode they are not.
func mode(t *testing.T, name string, acknowledge fleet.Mode, at string, load func(context.Context, *ledger.Ledger) (float64, error)) *measured {
	t.Helper()
	return &measured{name: name, run: func(ctx context.Context, pass int) (float64, error) {
		dir := t.TempDir()
		options := ledger.Options{Instance: "figures", LowSpaceBytes: -1}
		if acknowledge == "" {
			return record(ctx, dir, options, load)
		}
		location, err := fleet.ParseLocation(withParameter(at, fmt.Sprintf("ack=%s&node=figures-%d-%.4x", acknowledge, pass, sha256.Sum256([]byte(dir)))))
		if err != nil {
			return 0, err
		}
		shipper, err := ship.Start(ctx, ship.Config{Dir: dir, At: location, Log: slog.New(slog.DiscardHandler),
			Open: func(ctx context.Context) (fleet.Store, error) { return openAt(ctx, location) }})
		if err != nil {
			return 0, err
		}
		result, err := record(ctx, dir, shipper.Options(options), load)
		_, closed := shipper.Close(ctx)
		return result, errors.Join(err, closed)
	}}
}

// record opens a ledger, puts a load on it and closes it.
func record(ctx context.Context, dir string, options ledger.Options, load func(context.Context, *ledger.Ledger) (float64, error)) (result float64, err error) {
	l, err := ledger.Open(dir, options)
	if err != nil {
		return 0, err
	}
	result, err = load(ctx, l)
	return result, errors.Join(err, l.Close())
}

// sample is about as long as lineBytes in a ledger.
var sample = ledger.Entry{Kind: ledger.KindAttempt, Tool: "figures", Call: strings.Repeat("x", lineBytes-320)}

// saturate lets callers append entries until the pass is over, and returns entries per second.
func saturate(ctx context.Context, l *ledger.Ledger) (rate float64, err error) {
	var entries atomic.Int64
	var all sync.WaitGroup
	failures := make(chan error, callers)
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < passTime {
				if _, err := l.Append(ctx, sample); err != nil {
					failures <- err
					return
				}
				entries.Add(1)
			}
		})
	}
	all.Wait()
	rate = float64(entries.Load()) / time.Since(began).Seconds()
	close(failures)
	return rate, <-failures
}

// appendSteadily appends at steadyRate, whether or not earlier entries are acknowledged, and returns the median time of an entry in microseconds.
func appendSteadily(ctx context.Context, l *ledger.Ledger) (median float64, err error) {
	count := steadyRate * int(passTime/time.Second)
	took, failures := make([]time.Duration, count), make(chan error, count)
	var all sync.WaitGroup
	began := time.Now()
	for i := range count {
		due := began.Add(time.Duration(i) * time.Second / steadyRate)
		time.Sleep(time.Until(due))
		all.Go(func() {
			if _, err := l.Append(ctx, sample); err != nil {
				failures <- err
			}
			took[i] = time.Since(due)
		})
	}
	all.Wait()
	close(failures)
	slices.Sort(took)
	return float64(took[count/2].Microseconds()), <-failures
}

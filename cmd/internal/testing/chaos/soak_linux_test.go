package chaos

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

var soak = flag.Int("soak", 1500, "failing calls of TestR18SoakStaysFlat")

const (
	gateways       = 2
	callersPerGate = 16
)

// TestR18SoakStaysFlat makes failing calls through gateways that ship their ledgers to three servers, while the servers and the upstream
// fail. Memory, goroutines and descriptors of the gateways must stay flat, and every count of the failures must be the same.
func TestR18SoakStaysFlat(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short mode: starts three servers and two gateways")
	}
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3, Lazy: true})
	store, err := openStore(t.Context(), cluster.URL()+"?node=operator")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	upstream := newFailingServer(t)
	var all []*soaked
	for i := range gateways {
		home := t.TempDir()
		s := &soaked{node: fmt.Sprintf("gateway-%d", i+1), folder: filepath.Join(home, "ledger")}
		s.url = fmt.Sprintf("%s?node=%s&ack=local&dir=%s", cluster.URL(), s.node, s.folder)
		s.gateway = startGateway(t, home, s.url, upstream.URL+"/mcp")
		all = append(all, s)
	}
	began := time.Now()
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { disturb(t, cluster, upstream, stop) })
	for _, s := range all {
		others.Go(func() { s.sample(stop) })
	}
	makeCalls(t, all, *soak)
	close(stop)
	others.Wait()
	took := time.Since(began)
	for _, s := range all {
		s.flat(t)
		s.agree(t, store)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls in %.0f s, %.0f per second", *soak, took.Seconds(), float64(*soak)/took.Seconds())
}

// soaked is one gateway of the soak and what was measured of it.
type soaked struct {
	*gateway
	node, folder, url string
	made              atomic.Int64 // calls that were answered

	samples []usage
}

// usage is what a gateway uses at one moment.
type usage struct{ memory, goroutines, descriptors int }

// makeCalls makes that many calls, divided over the gateways.
func makeCalls(t *testing.T, all []*soaked, count int) {
	t.Helper()
	var callers sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(count))
	for _, s := range all {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callersPerGate}}
		t.Cleanup(client.CloseIdleConnections)
		for range callersPerGate {
			callers.Go(func() {
				for id := left.Add(-1); id >= 0 && !t.Failed(); id = left.Add(-1) {
					if err := s.call(t.Context(), client, int(id)); err != nil {
						t.Errorf("%s: %v", s.node, err)
						return
					}
					s.made.Add(1)
				}
			})
		}
	}
	callers.Wait()
}

// call makes one call. Its answer must be a failure with an envelope.
func (s *soaked) call(ctx context.Context, client *http.Client, id int) error {
	answer, err := s.answer(ctx, client, id)
	if err != nil {
		return err
	}
	if !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error":`) {
		return fmt.Errorf("call %d: want a failure, got %.300s", id, answer)
	}
	return nil
}

// answer makes one call and returns the body of the answer.
func (g *gateway) answer(ctx context.Context, client *http.Client, id int) (string, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fail","arguments":{"path":"notes/%d.md"}}}`, id, id)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.address+"/it/", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return string(text), err
}

// disturb restarts servers and lets the upstream die for moments, until stop is closed.
func disturb(t *testing.T, cluster *natscluster.Cluster, upstream *failingServer, stop <-chan struct{}) {
	t.Helper()
	rng := rand.New(rand.NewPCG(*seed, 18))
	restart := func(servers ...*natscluster.Server) {
		end, err := killed(servers...)
		if err != nil {
			t.Error(err)
			return
		}
		pause(stop, time.Second)
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	for number := 0; ; number++ {
		upstream.dead.Store(true)
		more := pause(stop, 100*time.Millisecond)
		upstream.dead.Store(false)
		if !more {
			return
		}
		if number%4 == 1 {
			restart(cluster.Servers...)
		} else {
			restart(cluster.Servers[rng.IntN(len(cluster.Servers))])
		}
		if !pause(stop, 4*time.Second) {
			return
		}
	}
}

// sample measures the gateway every half second until stop is closed.
func (s *soaked) sample(stop <-chan struct{}) {
	for {
		s.samples = append(s.samples, usage{s.metric("process_resident_memory_bytes"), s.metric("go_goroutines"), s.metric("process_open_fds")})
		if !pause(stop, 500*time.Millisecond) {
			return
		}
	}
}

// flat compares the second half of the samples with the first, from the moment at which the gateway was warm.
func (s *soaked) flat(t *testing.T) {
	t.Helper()
	warm := s.samples[len(s.samples)/5:]
	first, second := medians(warm[:len(warm)/2]), medians(warm[len(warm)/2:])
	t.Logf("%s: %d samples; first half %v, second half %v", s.node, len(warm), first, second)
	if len(warm) < 10 {
		return // a short run says nothing
	}
	if second.memory > first.memory+first.memory/4+16<<20 || second.goroutines > first.goroutines+16 || second.descriptors > first.descriptors+16 {
		t.Errorf("%s grew: first half %v, second half %v", s.node, first, second)
	}
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f MiB, %d goroutines, %d descriptors", float64(u.memory)/(1<<20), u.goroutines, u.descriptors)
}

func medians(samples []usage) usage {
	middle := func(of func(usage) int) int {
		var values []int
		for _, sample := range samples {
			values = append(values, of(sample))
		}
		if len(values) == 0 {
			return 0
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return usage{
		middle(func(u usage) int { return u.memory }),
		middle(func(u usage) int { return u.goroutines }),
		middle(func(u usage) int { return u.descriptors }),
	}
}

// agree requires that the gateway's counters, its ledger and the store have the same failures.
func (s *soaked) agree(t *testing.T, store fleet.Store) {
	t.Helper()
	counted, unrecorded := s.metric("mcp_errors_total"), s.metric("mcp_errors_unrecorded_total")
	if counted != int(s.made.Load()) || unrecorded != 0 {
		t.Errorf("%s: %d calls failed, %d are counted, %d unrecorded", s.node, s.made.Load(), counted, unrecorded)
	}
	wait.For(t, "the backlog of "+s.node+" to be shipped", func() error { return empty(s.backlog(t)) })
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		t.Errorf("%s: exit code %d: %s", s.node, code, s.said)
	}
	if got := failuresIn(t, s.folder); got != counted {
		t.Errorf("%s: %d failures are counted, and the ledger has %d", s.node, counted, got)
	}
	wait.For(t, "the store to have the ledger of "+s.node, func() error { return sameAsLedger(t.Context(), store, s.node, s.folder) })
	t.Logf("%s: %d failures counted = in the ledger = in the store", s.node, counted)
}

// failuresIn counts the failures in a ledger on the disk.
func failuresIn(t *testing.T, folder string) int {
	t.Helper()
	r, err := ledger.OpenReader(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	count := 0
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind == ledger.KindFailure {
			count++
		}
	}
	return count
}

// sameAsLedger returns an error unless the chains of a node in the store have the lines of its ledger.
func sameAsLedger(ctx context.Context, store fleet.Store, node, folder string) error {
	r, err := ledger.OpenReader(folder)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	names, err := r.Chains()
	if err != nil || len(names) == 0 {
		return errors.Join(errors.New("the ledger has no chain"), err)
	}
	for _, name := range names {
		if err := sameAsChain(ctx, store, fleet.Chain{Node: node, Name: name}, r); err != nil {
			return fmt.Errorf("chain %s: %w", name, err)
		}
	}
	return nil
}

// sameAsChain compares a chain of the store with the ledger, without holding it in memory.
func sameAsChain(ctx context.Context, store fleet.Store, chain fleet.Chain, r *ledger.Reader) error {
	next, stop := iter.Pull2(store.Lines(ctx, chain, 0))
	defer stop()
	for line, err := range r.Entries(ctx, ledger.ReadOptions{Chain: chain.Name}) {
		if err != nil {
			return err
		}
		stored, err, more := next()
		if err != nil || !more || !bytes.Equal(stored.Line, line.Raw()) {
			return errors.Join(fmt.Errorf("the store does not have line %d", line.Seq), err)
		}
	}
	if _, err, more := next(); more {
		return errors.Join(errors.New("the store has more than the ledger"), err)
	}
	return nil
}

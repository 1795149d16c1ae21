package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

var (
	rounds = flag.Int("rounds", 1, "rounds of TestR17ClusterLosesNothing; with 1 the only fault is a killed follower")
	seed   = flag.Uint64("seed", 0, "seed of the faults; 0 chooses one")
)

const (
	writers     = 3
	competitors = 4
	entries     = 1200 // of each writer in a round
)

// TestR17ClusterLosesNothing lets processes append to three nats-server processes that fail, and checks the store after each round.
func TestR17ClusterLosesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short mode: starts three servers and seven workers")
	}
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	t.Logf("seed %d: repeat the run with -rounds %d -seed %d", chosen, *rounds, chosen)
	reason := natscluster.NamespaceReason()
	if reason != "" && *rounds > 1 {
		t.Run("partitions", func(t *testing.T) { t.Skip(reason) })
	}
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3, Namespaces: reason == "" && *rounds > 1})
	p := &testbed{t: t, cluster: cluster, url: cluster.URL() + "?node=operator"}
	store, err := openStore(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	p.store = store
	if err := store.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	for number := range *rounds {
		p.round(number, rand.New(rand.NewPCG(chosen, uint64(number))), reason == "")
		if t.Failed() {
			t.Fatalf("round %d failed; seed %d", number+1, chosen)
		}
	}
	t.Logf("%d rounds: %s", *rounds, &p.total)
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// testbed is the cluster that rounds run on.
type testbed struct {
	t       *testing.T
	cluster *natscluster.Cluster
	url     string
	store   fleet.Store
	total   tally
}

// tally counts what was checked.
type tally struct {
	stored, acknowledged, operations, stale, faults, killed int
}

func (n *tally) String() string {
	return fmt.Sprintf("%d entries stored, %d acknowledged, 0 lost, 0 duplicates; %d operations on shared chains linearizable (%d rounds with old reads from a leader that was cut off); %d faults, %d workers killed",
		n.stored, n.acknowledged, n.operations, n.stale, n.faults, n.killed)
}

// round starts the workers, lets servers and workers fail, heals the cluster, and checks everything when the workers have finished.
func (p *testbed) round(number int, rng *rand.Rand, partitions bool) {
	p.t.Helper()
	began := time.Now()
	dir := p.t.TempDir()
	crew := p.newCrew(dir, number, rng)
	faults := p.chooseFaults(number, rng, partitions)
	killer := make(chan struct{})
	var killed sync.WaitGroup
	killed.Go(func() { crew.killAtRandom(rand.New(rand.NewPCG(rng.Uint64(), 0)), killer) })
	for _, f := range faults {
		crew.progress()
		p.inject(f, rng)
	}
	close(killer)
	killed.Wait()
	for range 3 {
		crew.progress()
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	if err := p.cluster.WaitReady(ctx); err != nil {
		p.t.Fatal(err)
	}
	crew.finish()
	p.check(ctx, crew, faults)
	p.total.faults += len(faults)
	p.total.killed += crew.kills
	p.t.Logf("round %d: %s, %d workers killed, %s, %.0f s", number+1, names(faults), crew.kills, crew.summary, time.Since(began).Seconds())
}

// crew is the workers of a round.
type crew struct {
	t       *testing.T
	sources []source
	shared  fleet.Chain
	summary string

	mu      sync.Mutex
	workers []*worker
	kills   int
}

// worker is one process, with the files of all processes that did the same task before it.
type worker struct {
	todo  task
	dir   string
	lives int

	command *exec.Cmd
	stdin   io.Closer
	stderr  *bytes.Buffer
}

func (p *testbed) newCrew(dir string, number int, rng *rand.Rand) *crew {
	c := &crew{t: p.t, shared: fleet.Chain{Node: fmt.Sprintf("r%d-shared", number+1), Name: fmt.Sprintf("shared-20260101T000000000Z-%08x", number+1)}}
	for i := range writers {
		node := fmt.Sprintf("r%d-w%d", number+1, i+1)
		s := newSource(p.t, filepath.Join(dir, node), node, entries)
		c.sources = append(c.sources, s)
		c.add(&worker{dir: dir, todo: task{URL: p.url, Chain: s.chain, Source: s.file, Client: i, Seed: rng.Uint64()}})
	}
	for i := range competitors {
		c.add(&worker{dir: dir, todo: task{URL: p.url, Chain: c.shared, Client: writers + i, Seed: rng.Uint64()}})
	}
	p.t.Cleanup(c.kill)
	return c
}

func (c *crew) add(w *worker) {
	w.start(c.t)
	c.workers = append(c.workers, w)
}

// start starts a process for the task. Each has its own file, so that a line which a kill has cut ends its file.
func (w *worker) start(t *testing.T) {
	t.Helper()
	w.lives++
	w.todo.Out = w.file(w.lives)
	w.todo.Seed++
	text, err := json.Marshal(w.todo)
	if err != nil {
		t.Fatal(err)
	}
	w.stderr = &bytes.Buffer{}
	w.command = exec.Command(os.Args[0])
	w.command.Env = append(os.Environ(), roleVariable+"="+string(text), "GOMAXPROCS=1")
	w.command.Stderr = w.stderr
	w.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if w.stdin, err = w.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.todo.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.command.Start(); err != nil {
		t.Fatal(err)
	}
}

func (w *worker) file(life int) string {
	return filepath.Join(w.dir, fmt.Sprintf("worker-%d.%d", w.todo.Client, life))
}

func (w *worker) files() []string {
	var out []string
	for life := range w.lives {
		out = append(out, w.file(life+1))
	}
	return out
}

// killAtRandom kills workers and starts them again, until stop is closed.
func (c *crew) killAtRandom(rng *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(1+rng.IntN(4)) * time.Second):
		}
		c.mu.Lock()
		w := c.workers[rng.IntN(len(c.workers))]
		_ = w.command.Process.Kill() // an error means that it has exited, which finish reports
		_ = w.command.Wait()
		w.start(c.t)
		c.kills++
		c.mu.Unlock()
	}
}

// progress waits until every worker has written something since the call, so that faults meet workers at work.
func (c *crew) progress() {
	sizes := c.written()
	wait.For(c.t, "progress without a fault", func() error {
		for i, size := range c.written() {
			if size <= sizes[i] {
				return fmt.Errorf("worker %d has written nothing", i)
			}
		}
		return nil
	})
}

// written returns the bytes that the processes of each worker have written.
func (c *crew) written() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []int64
	for _, w := range c.workers {
		total := int64(0)
		for _, name := range w.files() {
			if info, err := os.Stat(name); err == nil {
				total += info.Size()
			}
		}
		out = append(out, total)
	}
	return out
}

// finish lets the workers append the rest, and waits for them.
func (c *crew) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		_ = w.stdin.Close() // an error means that the process has exited, which Wait reports
	}
	limit := time.AfterFunc(2*time.Minute, c.kill)
	defer limit.Stop()
	for _, w := range c.workers {
		if err := w.command.Wait(); err != nil {
			c.t.Errorf("worker %d of %s: %v\n%s", w.todo.Client, w.todo.Chain, err, w.stderr)
		}
	}
}

func (c *crew) kill() {
	for _, w := range c.workers {
		_ = w.command.Process.Kill()
	}
}

// check compares the store with what the workers know.
func (p *testbed) check(ctx context.Context, c *crew, faults []fault) {
	p.t.Helper()
	for i, s := range c.sources {
		p.checkChain(ctx, s, acknowledged(p.t, c.workers[i].files()))
	}
	p.verify(ctx, c.sources)
	var files []string
	for _, w := range c.workers[writers:] {
		files = append(files, w.files()...)
	}
	history := readHistory(p.t, files...)
	c.summary = summary(history)
	p.checkShared(ctx, c.shared, history, faults)
}

// checkChain requires that a chain of the store has exactly the lines of its source.
func (p *testbed) checkChain(ctx context.Context, s source, acknowledged int) {
	p.t.Helper()
	want, err := s.lines()
	if err != nil {
		p.t.Fatal(err)
	}
	got := p.lines(ctx, s.chain)
	if acknowledged > len(got) {
		p.t.Errorf("chain %s: %d lines were acknowledged, and the store has %d", s.chain, acknowledged, len(got))
	}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		p.t.Errorf("chain %s: the store has %d lines, which are not the %d of the ledger", s.chain, len(got), len(want))
	}
	p.total.stored += len(got)
	p.total.acknowledged += acknowledged
}

// verify requires that the nodes of the round verify, with the package that candor ledger verify uses.
func (p *testbed) verify(ctx context.Context, sources []source) {
	p.t.Helper()
	var o view.Options
	for _, s := range sources {
		o.Nodes = append(o.Nodes, s.chain.Node)
	}
	report, err := view.Verify(ctx, p.store, o)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, damage := range report.Damage {
		p.t.Error(damage)
	}
	if !report.OK || len(report.Nodes) != len(sources) {
		p.t.Errorf("%d of %d nodes are in the report, OK: %v", len(report.Nodes), len(sources), report.OK)
	}
}

func (p *testbed) lines(ctx context.Context, chain fleet.Chain) [][]byte {
	p.t.Helper()
	var out [][]byte
	for line, err := range p.store.Lines(ctx, chain, 0) {
		if err != nil {
			p.t.Fatalf("reading chain %s: %v", chain, err)
		}
		out = append(out, bytes.Clone(line.Line))
	}
	return out
}

// acknowledged returns the highest number that a worker has noted.
func acknowledged(t *testing.T, files []string) int {
	t.Helper()
	most := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = text[:bytes.LastIndexByte(text, '\n')+1] // a kill may have cut the last number
		for _, word := range strings.Fields(string(text)) {
			number, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, number)
		}
	}
	return most
}

// checkShared requires that the history of a chain with several writers is linearizable, that its lines are linked, and that they are the
// entries which the history says were stored.
func (p *testbed) checkShared(ctx context.Context, chain fleet.Chain, history []operation, faults []fault) {
	p.t.Helper()
	now := monotonic()
	head, err := p.store.Head(ctx, chain)
	if err != nil {
		p.t.Fatal(err)
	}
	history = append(history, operation{Kind: kindHead, Call: now, Return: monotonic(), Result: resultOK, Head: head})
	if result := linearizable(history, false); result != porcupine.Ok { // Unknown if a minute did not suffice
		p.t.Errorf("chain %s: the check for a linearizable history ends with %q: %s\n%s", chain, result, summary(history), dump(history))
	} else if linearizable(history, true) != porcupine.Ok {
		p.total.stale++
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.cutsLeader }) {
			p.t.Errorf("chain %s: old heads were read, and no leader was cut off\n%s", chain, dump(history))
		}
	}
	p.total.operations += len(history)
	if err := linked(p.lines(ctx, chain), chain, history, head); err != nil {
		p.t.Error(err)
	}
}

// linked returns an error unless the lines are the chain of appends that ends with head.
func linked(lines [][]byte, chain fleet.Chain, history []operation, head fleet.Head) error {
	appended := map[fleet.Head]operation{}
	for _, op := range history {
		if op.Kind == kindAppend {
			appended[op.Next] = op
		}
	}
	last := fleet.Head{}
	stored := map[fleet.Head]bool{}
	for i, line := range lines {
		next := headOf(line)
		next.Seq = uint64(i + 1)
		op, known := appended[next]
		if !known || op.After != last {
			return fmt.Errorf("chain %s: line %d does not follow the one before it", chain, i+1)
		}
		if op.Result == resultConflict {
			return fmt.Errorf("chain %s: line %d was refused", chain, i+1)
		}
		stored[next], last = true, next
	}
	if last != head {
		return fmt.Errorf("chain %s: its last line is not its head", chain)
	}
	for next, op := range appended {
		if op.Result == resultOK && !stored[next] {
			return fmt.Errorf("chain %s: entry %d was acknowledged and is not stored", chain, next.Seq)
		}
	}
	return nil
}

// dump writes a history to a file that stays, for a person to read, and returns its name.
func dump(history []operation) string {
	file, err := os.CreateTemp("", "candor-chaos-history-*.jsonl")
	if err != nil {
		return err.Error()
	}
	r := &recorder{to: file}
	for _, op := range history {
		if err := r.write(op); err != nil {
			return err.Error()
		}
	}
	return errors.Join(file.Close(), errors.New("history in "+file.Name())).Error()
}

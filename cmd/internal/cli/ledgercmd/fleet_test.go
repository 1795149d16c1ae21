package ledgercmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/ledger"
)

// fleetOf runs commands on a store.
type fleetOf struct {
	store fleet.Store
	dir   string // of the store
	url   string
	state string
	now   time.Time
}

// newFleet returns a fleet with a store in a folder.
func newFleet(t *testing.T) *fleetOf {
	t.Helper()
	dir := t.TempDir()
	return &fleetOf{store: open(t, dir), dir: dir, url: "file:" + dir, state: t.TempDir(), now: time.Now()}
}

// open opens the store in a folder until the test ends.
func open(t *testing.T, dir string) fleet.Store {
	t.Helper()
	store := filestore.Open(dir)
	t.Cleanup(func() { _ = store.Close() }) // nothing is pending
	return store
}

// linesOf returns the lines of a chain of the store in a folder.
func linesOf(t *testing.T, dir string, chain fleet.Chain) (lines [][]byte) {
	t.Helper()
	for line, err := range open(t, dir).Lines(t.Context(), chain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Clone(line.Line))
	}
	return lines
}

// editChain changes the lines of a chain, as an attacker with access to the store could.
func editChain(t *testing.T, dir string, chain fleet.Chain, change func(lines [][]byte) [][]byte) {
	t.Helper()
	text := append(bytes.Join(change(linesOf(t, dir, chain)), []byte("\n")), '\n')
	if err := os.WriteFile(filepath.Join(dir, chain.Node, chain.Name, "audit-log.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs one command line and returns what it printed and its exit code.
func (f *fleetOf) run(args ...string) (stdout, stderr string, code int) {
	var out, problems bytes.Buffer
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(&out, false), Err: &problems, Now: func() time.Time { return f.now },
		Getenv:  func(name string) string { return map[string]string{"XDG_STATE_HOME": f.state}[name] },
		Engines: fleet.Engines{"file": filestore.Engine{}},
	}
	code = cli.Run(env, args)
	return out.String(), problems.String(), code
}

// must runs a command line that must succeed, and returns its output.
func (f *fleetOf) must(t *testing.T, args ...string) string {
	t.Helper()
	out, problems, code := f.run(args...)
	if code != 0 {
		t.Fatalf("candor %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, problems)
	}
	return out
}

// write writes a chain of n entries, failures and others, with the real ledger.
func write(t *testing.T, dir string, n int, o ledger.Options) {
	t.Helper()
	l, err := ledger.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	codes := []candor.Code{candor.CodeRateLimited, candor.CodeTimeout, candor.CodeUnavailable}
	for i := range n {
		e := ledger.Entry{Kind: ledger.KindFailure, Tool: fmt.Sprintf("tool-%d", i%4), Code: codes[i%3]}
		if i%5 == 0 {
			e = ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"}
		}
		if _, err := l.Append(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// ship appends what the store does not have yet.
func (f *fleetOf) ship(t *testing.T, node, dir string) {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	chains, err := r.Chains()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range chains {
		chain := fleet.Chain{Node: node, Name: name}
		head, err := f.store.Head(context.Background(), chain)
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for l, err := range r.Entries(context.Background(), ledger.ReadOptions{Chain: name}) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Seq > head.Seq {
				lines = append(lines, slices.Clone(l.Raw()))
			}
		}
		if len(lines) == 0 {
			continue
		}
		if err := f.store.Append(context.Background(), chain, head, lines); err != nil {
			t.Fatal(err)
		}
	}
}

type counts struct {
	Entries, Failures, Suspected uint64
	Kinds                        map[string]int64
	Buckets                      []struct {
		Name  string
		Count uint64
	}
	Nodes []struct {
		Node              string
		Entries, Failures uint64
	}
}

func TestStatsAreThoseOfTheFolders(t *testing.T) {
	f := newFleet(t)
	var dirs []string
	for i, n := range []int{30, 55, 12} {
		dir := t.TempDir()
		write(t, dir, n, ledger.Options{})
		write(t, dir, n/2, ledger.Options{Instance: "wrap"})
		f.ship(t, fmt.Sprintf("n%d", i), dir)
		dirs = append(dirs, dir)
	}
	for _, by := range []string{"code", "tool", "server", "class", "domain", "hour"} {
		for _, filter := range [][]string{nil, {"--code", "TIMEOUT"}, {"--kind", "failure", "--tool", "tool-1"}, {"--server", "wrap"}} {
			var together counts
			buckets := map[string]uint64{}
			for _, dir := range dirs {
				one := decode(t, f.must(t, append([]string{"ledger", "stats", dir, "--by", by, "--json"}, filter...)...))
				together.Entries += one.Entries
				together.Failures += one.Failures
				for _, b := range one.Buckets {
					buckets[b.Name] += b.Count
				}
			}
			all := decode(t, f.must(t, append([]string{"ledger", "stats", f.url, "--by", by, "--json"}, filter...)...))
			got := map[string]uint64{}
			for _, b := range all.Buckets {
				got[b.Name] += b.Count
			}
			if all.Entries != together.Entries || all.Failures != together.Failures || !maps.Equal(got, buckets) {
				t.Errorf("by %s %v: fleet has %d entries, %d failures, %v; the folders have %d, %d, %v", by, filter, all.Entries, all.Failures, got, together.Entries, together.Failures, buckets)
			}
		}
	}
	byNode := decode(t, f.must(t, "ledger", "stats", f.url, "--by", "node", "--json"))
	for _, b := range byNode.Buckets {
		for _, n := range byNode.Nodes {
			if n.Node == b.Name && n.Failures != b.Count {
				t.Errorf("node %s: %d and %d failures", n.Node, n.Failures, b.Count)
			}
		}
	}
	f.now = f.now.Add(time.Hour)
	if late := decode(t, f.must(t, "ledger", "stats", f.url, "--since", "30m", "--json")); late.Failures != 0 {
		t.Errorf("%d failures in the last half hour", late.Failures)
	}
	if out := f.must(t, "ledger", "stats", f.url, "--by", "hour", "--top", "1"); !strings.Contains(out, "of 3 nodes") {
		t.Errorf("got %s", out)
	}
	if out := f.must(t, "ledger", "stats", f.url, "--by", "tool", "--top", "1"); !strings.Contains(out, "(others)") {
		t.Errorf("got %s", out)
	}
}

func decode(t *testing.T, text string) (c counts) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return c
}

func TestPruneRemovesWhatNodesHaveRemoved(t *testing.T) {
	f := newFleet(t)
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, 600, ledger.Options{MaxSegmentBytes: 16 << 10})
	write(t, dir, 20, ledger.Options{})
	write(t, other, 20, ledger.Options{})
	f.ship(t, "web", dir)
	f.ship(t, "db", other)
	f.must(t, "ledger", "verify", f.url)
	if out := f.must(t, "ledger", "prune", f.url, "--yes"); !strings.Contains(out, "Nothing to remove") {
		t.Errorf("nodes have removed nothing, got %s", out)
	}
	if done, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 60 << 10}); err != nil || len(done.Removed) == 0 {
		t.Fatalf("the node has removed nothing: %v", err)
	}
	f.ship(t, "web", dir)
	before := f.entries(t)
	f.now = f.now.Add(2 * time.Hour)
	if out := f.must(t, "ledger", "prune", f.url, "--keep-age", "3h", "--yes"); !strings.Contains(out, "Nothing to remove") {
		t.Errorf("no entry is three hours old, got %s", out)
	}
	if out := f.must(t, "ledger", "prune", f.url, "--dry-run"); !strings.Contains(out, "\nto remove: ") || f.entries(t) != before {
		t.Errorf("a dry run has removed something, or found nothing: %s", out)
	}
	if _, problems, code := f.run("ledger", "prune", f.url); code != 2 || !strings.Contains(problems, "candor ledger prune --yes") {
		t.Errorf("without --yes: exit code %d, %s", code, problems)
	}
	var report struct {
		Done    bool
		Removed []struct {
			Node    string
			Entries uint64
		}
	}
	if err := json.Unmarshal([]byte(f.must(t, "ledger", "prune", f.url, "--keep-age", "1h", "--yes", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Done || len(report.Removed) != 1 || report.Removed[0].Node != "web" || f.entries(t) != before-report.Removed[0].Entries {
		t.Errorf("got %+v, %d entries before and %d after", report, before, f.entries(t))
	}
	f.must(t, "ledger", "verify", f.url) // compares with the checkpoint from before

	if done, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 1}); err != nil || len(done.Removed) == 0 {
		t.Fatalf("the node has removed nothing: %v", err)
	}
	f.ship(t, "web", dir)
	if out := f.must(t, "ledger", "prune", f.url, "--yes"); !strings.Contains(out, "removed ") {
		t.Errorf("got %s", out)
	}
	f.must(t, "ledger", "verify", f.url)
}

// entries returns the number of lines in the store.
func (f *fleetOf) entries(t *testing.T) (n uint64) {
	t.Helper()
	chains, err := f.store.Chains(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chains {
		for range f.store.Lines(context.Background(), c, 0) {
			n++
		}
	}
	return n
}

func TestPruneLeavesADamagedNodeAlone(t *testing.T) {
	f := newFleet(t)
	dir := t.TempDir()
	write(t, dir, 400, ledger.Options{MaxSegmentBytes: 16 << 10})
	if done, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 20 << 10}); err != nil || len(done.Removed) == 0 {
		t.Fatalf("the node has removed nothing: %v", err)
	}
	f.ship(t, "web", dir)
	chains, err := f.store.Chains(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	editChain(t, f.dir, chains[0], func(lines [][]byte) [][]byte { return slices.Delete(lines, 5, 6) })
	before := f.entries(t)
	out, _, code := f.run("ledger", "prune", f.url, "--yes")
	if code != 1 || !strings.Contains(out, "FAILED  wrong-seq  node web") || f.entries(t) != before {
		t.Errorf("exit code %d, %d entries of %d left: %s", code, f.entries(t), before, out)
	}
}

// screen collects the output of a command that runs.
type screen struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// await waits until the text is shown so many times.
func (s *screen) await(t *testing.T, text string, times int) {
	t.Helper()
	for {
		s.mu.Lock()
		shown := s.text.String()
		s.mu.Unlock()
		if strings.Count(shown, text) >= times {
			return
		}
		select {
		case <-s.wrote:
		case <-t.Context().Done():
			t.Fatalf("%q was not shown: %s", text, shown)
		}
	}
}

func TestTailFollowsAllNodes(t *testing.T) {
	f := newFleet(t)
	first := t.TempDir()
	write(t, first, 3, ledger.Options{})
	f.ship(t, "a", first)
	out := &screen{wrote: make(chan struct{}, 1)}
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(out, false), Err: out, Now: time.Now, Getenv: func(string) string { return "" },
		Engines: fleet.Engines{"file": filestore.Engine{}},
	}
	go cli.Run(env, []string{"ledger", "tail", f.url, "-f", "-n", "1", "--kind", "failure"}) // ends with the test
	out.await(t, "a  20", 1)
	second := t.TempDir() // a node that appears while the command runs
	write(t, second, 3, ledger.Options{})
	f.ship(t, "b", second)
	out.await(t, "b  20", 2)
	write(t, first, 2, ledger.Options{})
	f.ship(t, "a", first)
	out.await(t, "a  20", 2)
	out.mu.Lock()
	defer out.mu.Unlock()
	if n := strings.Count(out.text.String(), "\n"); n != 4 {
		t.Errorf("%d lines are shown, want 4: %s", n, out.text.String())
	}
}

func TestJoinPrintsTheRightsOfANode(t *testing.T) {
	f := newFleet(t)
	if out := f.must(t, "fleet", "join", "web-1", f.url); !strings.Contains(out, filepath.Join(f.dir, "web-1")) {
		t.Errorf("got %q", out)
	}
}

func TestStoreErrorsHaveANextStep(t *testing.T) {
	f := newFleet(t)
	file := filepath.Join(t.TempDir(), "away")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.url = "file:" + filepath.Join(file, "store")
	for _, args := range [][]string{
		{"ledger", "verify"}, {"ledger", "stats"}, {"ledger", "tail"}, {"ledger", "export"},
		{"ledger", "prune"}, {"fleet", "setup"},
	} {
		args = append(args, f.url)
		_, problems, code := f.run(args...)
		if code != 2 || !strings.Contains(problems, "away") || !strings.Contains(problems, "hint: ") {
			t.Errorf("%v: exit code %d: %s", args, code, problems)
		}
	}
	if matches, err := filepath.Glob(filepath.Join(f.state, "candor", "fleet", "*")); err != nil || len(matches) > 0 {
		t.Errorf("files were created although nothing was verified: %v %v", matches, err)
	}
}

func TestSetupPassesItsOptions(t *testing.T) {
	f := newFleet(t)
	f.must(t, "fleet", "setup", f.url)
	for _, option := range []string{"--replicas=3", "--max-bytes=2GiB"} { // a folder has none of them
		if _, problems, code := f.run("fleet", "setup", f.url, option); code != 2 || !strings.Contains(problems, "one replica and no limits") {
			t.Errorf("%s: exit code %d: %s", option, code, problems)
		}
	}
}

func TestKeysOfTheOperatorCountAlone(t *testing.T) {
	f := newFleet(t)
	dir := t.TempDir()
	write(t, dir, 10, ledger.Options{})
	f.ship(t, "web", dir)
	key, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	stranger := t.TempDir()
	write(t, stranger, 1, ledger.Options{})
	other, err := ledger.PublicKeys(stranger)
	if err != nil {
		t.Fatal(err)
	}
	f.must(t, "ledger", "verify", f.url, "--key", keyFile(t, "web "+key[0]))
	if out, _, code := f.run("ledger", "verify", f.url, "--key", keyFile(t, "web "+other[0])); code != 1 || !strings.Contains(out, "unknown-key  node web") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func keyFile(t *testing.T, line string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

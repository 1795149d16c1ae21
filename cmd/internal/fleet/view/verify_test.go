package view_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

func TestHonestFleetVerifies(t *testing.T) {
	store, state := honestFleet(t)
	report := mustVerify(t, store, view.Options{Known: state})
	if len(report.Nodes) != 8 || report.Entries < 1000 {
		t.Errorf("got %d entries of %d nodes", report.Entries, len(report.Nodes))
	}
	for _, n := range report.Nodes {
		if n.New {
			t.Errorf("node %s is new although the state knows it", n.Node)
		}
	}
	if keys := report.Nodes[2].Keys; len(keys) != 3 {
		t.Errorf("node-2 has rotated its key twice and has %d keys", len(keys))
	}
}

// damages are all ways to damage one chain. Each returns the entry that must be named, or 0 if any is right.
var damages = map[string]func(r *rand.Rand, lines [][]byte) (changed [][]byte, seq uint64){
	"remove an entry": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := r.IntN(len(lines))
		seq := seqOf(lines[i])
		if i == 0 && seq > 1 {
			seq = 0 // the chain was pruned up to there
		}
		return slices.Delete(lines, i, i+1), seq
	},
	"remove several entries": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := 1 + r.IntN(len(lines)-2)
		seq := seqOf(lines[i])
		return slices.Delete(lines, i, i+1+r.IntN(len(lines)-i-1)), seq
	},
	"remove the tail": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := 1 + r.IntN(len(lines)-1)
		return lines[:i], seqOf(lines[i])
	},
	"swap two entries": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := 1 + r.IntN(len(lines)-2)
		seq := seqOf(lines[i])
		lines[i], lines[i+1] = lines[i+1], lines[i]
		return lines, seq
	},
	"repeat an entry": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := r.IntN(len(lines))
		return slices.Insert(lines, i, lines[i]), seqOf(lines[i])
	},
	"repeat an entry at the end": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		return append(lines, lines[r.IntN(len(lines))]), 0
	},
	"change a byte": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := r.IntN(len(lines))
		seq := seqOf(lines[i])
		lines[i] = slices.Clone(lines[i])
		lines[i][r.IntN(len(lines[i]))] ^= 1 << r.IntN(7)
		return lines, seq
	},
	"forge an entry": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := toolEntry(r, lines)
		seq := seqOf(lines[i])
		lines[i] = rehash(bytes.Replace(lines[i], []byte(`"tool":"tool-`), []byte(`"tool":"fool-`), 1))
		return lines, seq + 1 // the next one does not follow it
	},
	"forge an entry and all that follow": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := toolEntry(r, lines)
		lines[i] = rehash(bytes.Replace(lines[i], []byte(`"tool":"tool-`), []byte(`"tool":"fool-`), 1))
		relink(lines[i:])
		return lines, 0
	},
	"fork the chain": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := toolEntry(r, lines)
		other := rehash(bytes.Replace(lines[i], []byte(`"tool":"tool-`), []byte(`"tool":"fool-`), 1))
		return slices.Insert(lines, i+1, other), seqOf(lines[i])
	},
	"join two lines": func(r *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		i := r.IntN(len(lines) - 1)
		seq := seqOf(lines[i])
		lines[i] = slices.Concat(lines[i], []byte("\n"), lines[i+1])
		return slices.Delete(lines, i+1, i+2), seq
	},
	"write zeros at the end": func(_ *rand.Rand, lines [][]byte) ([][]byte, uint64) {
		return append(lines, make([]byte, 512)), seqOf(lines[len(lines)-1]) + 1
	},
	"remove the chain": func(*rand.Rand, [][]byte) ([][]byte, uint64) { return nil, 0 },
}

func seqOf(line []byte) uint64 {
	parsed, err := ledger.ParseLine(line)
	if err != nil {
		panic(err)
	}
	return parsed.Seq
}

// toolEntry returns the index of an entry about a tool that is not the last line.
func toolEntry(r *rand.Rand, lines [][]byte) int {
	for {
		if i := r.IntN(len(lines) - 1); bytes.Contains(lines[i], []byte(`"tool":"tool-`)) {
			return i
		}
	}
}

func TestEveryDamageIsFoundAtItsNode(t *testing.T) {
	_, state := honestFleet(t)
	var chains []fleet.Chain
	for chain := range state.Heads {
		if len(honest.lines[chain]) > 20 {
			chains = append(chains, chain)
		}
	}
	slices.SortFunc(chains, func(a, b fleet.Chain) int { return strings.Compare(a.String(), b.String()) })
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			for round := range rounds {
				r := rand.New(rand.NewPCG(20, uint64(round)))
				store, _ := honestFleet(t)
				chain, want := chains[r.IntN(len(chains))], uint64(0)
				store.Edit(chain, func(lines [][]byte) [][]byte {
					lines, want = damage(r, lines)
					return lines
				})
				requireDamage(t, store, view.Options{Known: state, Nodes: nil}, chain, want)
			}
		})
	}
}

// requireDamage requires damage of exactly one chain, and that it names the entry unless seq is 0.
func requireDamage(t *testing.T, store fleet.Store, o view.Options, chain fleet.Chain, seq uint64) {
	t.Helper()
	report, err := view.Verify(context.Background(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.OK || len(report.Damage) == 0 || report.Incomplete() {
		t.Fatalf("%s: the damage was not found, want entry %d", chain, seq)
	}
	found := false
	for _, d := range report.Damage {
		if d.Node != chain.Node {
			t.Errorf("%s: damage of another node: %s", chain, d)
		}
		found = found || d.Chain == chain.Name && (seq == 0 || d.Seq == seq)
	}
	if !found {
		t.Errorf("%s: want entry %d, got %v", chain, seq, report.Damage)
	}
}

func TestNodeThatWasSetBackIsFound(t *testing.T) {
	dir, store := t.TempDir(), newMemory()
	writeChain(t, dir, 30, ledger.Options{})
	older := t.TempDir()
	if err := os.CopyFS(older, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	writeChain(t, dir, 30, ledger.Options{})
	ship(t, store, "web", dir)
	state := stateOf(t, mustVerify(t, store, view.Options{}))

	back := newMemory() // the node and the store were set back, and the node went on with its own key
	writeChain(t, older, 50, ledger.Options{})
	ship(t, back, "web", older)
	mustVerify(t, back, view.Options{}) // by itself it is a whole ledger
	report, err := view.Verify(context.Background(), back, view.Options{Known: state})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Damage) != 1 || report.Damage[0].Kind != "missing-chain" || report.Damage[0].Node != "web" || report.Incomplete() {
		t.Errorf("got %v, want the chain that was lost", report.Damage)
	}
}

func TestKeyWithoutRotationIsFound(t *testing.T) {
	store, state := honestFleet(t)
	forged := t.TempDir() // an attacker with access to the store has no key of the node
	writeChain(t, forged, 20, ledger.Options{})
	ship(t, store, "node-0", forged)
	for name, o := range map[string]view.Options{"pinned": {Known: state}, "on first use": {}} {
		t.Run(name, func(t *testing.T) {
			report, err := view.Verify(context.Background(), store, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Damage) != 1 || report.Damage[0].Node != "node-0" || report.Damage[0].Kind != "unknown-key" {
				t.Errorf("got %v, want an unknown key of node-0", report.Damage)
			}
		})
	}
}

func TestForgedRotationIsNotTrusted(t *testing.T) {
	dir, store := t.TempDir(), newMemory()
	writeChain(t, dir, 20, ledger.Options{})
	ship(t, store, "web", dir)
	state := stateOf(t, mustVerify(t, store, view.Options{}))
	key, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}

	forged := t.TempDir() // the attacker has a key, and claims that the node's key was rotated to it
	writeChain(t, forged, 1, ledger.Options{})
	if err := os.WriteFile(filepath.Join(forged, "keys", "rotations"), signRotation(t, forged, key[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(firstChain(t, forged)); err != nil {
		t.Fatal(err)
	}
	writeChain(t, forged, 20, ledger.Options{})
	ship(t, store, "web", forged)
	report, err := view.Verify(context.Background(), store, view.Options{Known: state})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Damage) != 1 || report.Damage[0].Kind != "unknown-key" {
		t.Errorf("got %v, want an unknown key", report.Damage)
	}
}

// signRotation returns a note about a rotation from a key to that of a ledger, signed only with the latter.
func signRotation(t *testing.T, dir, old string) []byte {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(dir, "keys", "signer.key"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(strings.TrimSpace(string(secret)))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("candor-ledger-rotation/1\nold %s\nnew %s\n", old, public[0])}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return append(signed, "---\n"...)
}

func firstChain(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no chain: %v", err)
	}
	return filepath.Dir(found[0])
}

func TestChainUnderTheWrongNodeIsFound(t *testing.T) {
	for name, c := range map[string]struct{ from, to string }{"a newer chain": {"node-5", "node-0"}, "an older chain": {"node-0", "node-7"}} {
		t.Run(name, func(t *testing.T) {
			store, state := honestFleet(t)
			var chain fleet.Chain
			for found := range state.Heads {
				if found.Node == c.from && found.String() > chain.String() {
					chain = found
				}
			}
			lines := honest.lines[chain]
			copied := fleet.Chain{Node: c.to, Name: chain.Name}
			store.Edit(copied, func([][]byte) [][]byte { return lines })
			requireDamage(t, store, view.Options{Known: state}, copied, 1)

			store.Edit(chain, func([][]byte) [][]byte { return nil }) // moved, not copied
			report, err := view.Verify(context.Background(), store, view.Options{Known: state})
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, d := range report.Damage {
				nodes = append(nodes, fmt.Sprintf("%s %s", d.Node, d.Kind))
			}
			if !slices.Contains(nodes, c.to+" unknown-key") || !slices.Contains(nodes, c.from+" missing-chain") {
				t.Errorf("got %v, want the chain named at both nodes", nodes)
			}
		})
	}
}

func TestNodeCannotExcuseDamageToAnother(t *testing.T) {
	store, evil := newMemory(), t.TempDir()
	dir := t.TempDir()
	writeChain(t, dir, 300, ledger.Options{MaxSegmentBytes: 8 << 10})
	writeChain(t, dir, 5, ledger.Options{})
	ship(t, store, "web", dir)
	state := stateOf(t, mustVerify(t, store, view.Options{}))

	// The other node has a copy of the folder, and records with its own key that the chain was pruned.
	if err := os.CopyFS(evil, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	rotate(t, evil)
	prune2 := ledger.Options{RetainBytes: 1}
	if done, err := ledger.Prune(context.Background(), evil, prune2); err != nil || len(done.Removed) == 0 {
		t.Fatalf("nothing was pruned: %v", err)
	}
	ship(t, store, "evil", evil)
	victim := fleet.Chain{}
	for c, h := range state.Heads {
		if h.Size > state.Heads[victim].Size {
			victim = c
		}
	}
	store.Edit(victim, func([][]byte) [][]byte { return nil })
	report, err := view.Verify(context.Background(), store, view.Options{Known: state})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.Damage, func(d view.Damage) bool { return d.Node == "web" && d.Chain == victim.Name }) {
		t.Errorf("got %v, want the missing chain of web", report.Damage)
	}
}

func TestNamesThatNoNodeUsesAreDamage(t *testing.T) {
	store, state := honestFleet(t)
	for _, chain := range []fleet.Chain{{Node: "node-0", Name: "notes"}, {Node: "a b", Name: "x"}} {
		store.Edit(chain, func([][]byte) [][]byte { return [][]byte{[]byte("hello")} })
	}
	report, err := view.Verify(context.Background(), store, view.Options{Known: state})
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, d := range report.Damage {
		where = append(where, d.Node+"/"+d.Chain)
	}
	slices.Sort(where)
	if got := strings.Join(where, " "); got != "a b/ a b/x node-0/notes" {
		t.Errorf("got %q", got)
	}
}

// stoppingStore reads only the first line of each chain of a node, and then fails with an error that looks like that of a caller who has gone.
type stoppingStore struct {
	*memory
	node string
}

func (s stoppingStore) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	if chain.Node != s.node {
		return s.memory.Lines(ctx, chain, after)
	}
	return func(yield func(fleet.Stored, error) bool) {
		for stored, err := range s.memory.Lines(ctx, chain, 0) {
			if after == 0 && !yield(stored, err) {
				return
			}
			break
		}
		yield(fleet.Stored{}, fmt.Errorf("the connection was closed: %w", context.Canceled))
	}
}

func TestNodeThatCannotBeReadToItsEndIsAnError(t *testing.T) {
	store, _ := honestFleet(t)
	_, err := view.Verify(context.Background(), stoppingStore{store, "node-3"}, view.Options{})
	if err == nil || !strings.Contains(err.Error(), "reading node node-3") {
		t.Errorf("got %v, want the error of node-3", err)
	}
}

func TestVerifyWhileNodesWrite(t *testing.T) {
	store := newMemory()
	type node struct {
		name, dir string
		ledger    *ledger.Ledger
	}
	var nodes []node
	for i := range 3 {
		n := node{fmt.Sprintf("n%d", i), t.TempDir(), nil}
		var err error
		if n.ledger, err = ledger.Open(n.dir, ledger.Options{MaxSegmentBytes: 16 << 10}); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 8 {
			for i := range nodes {
				appendEntries(t, nodes[i].ledger, 40)
				ship(t, store, nodes[i].name, nodes[i].dir)
			}
		}
	}()
	var known *view.State
	rounds := 0
	for running := true; running; rounds++ {
		select {
		case <-done:
			running = false
		default:
		}
		if report := mustVerify(t, store, view.Options{Known: known}); report.OK {
			known = stateOf(t, report)
		}
	}
	for _, n := range nodes {
		if err := n.ledger.Close(); err != nil {
			t.Fatal(err)
		}
		ship(t, store, n.name, n.dir)
	}
	mustVerify(t, store, view.Options{Known: known})
	if rounds < 2 {
		t.Errorf("verified %d times while nodes were writing", rounds)
	}
}

// lateStore ships the rest of a ledger when the chains are listed for the second time.
type lateStore struct {
	*memory
	lists int
	ship  func()
}

func (s *lateStore) Chains(ctx context.Context) ([]fleet.Chain, error) {
	if s.lists++; s.lists == 2 {
		s.ship()
	}
	return s.memory.Chains(ctx)
}

func TestVerifyWaitsForEntriesThatArriveLater(t *testing.T) {
	dir := t.TempDir()
	writeChain(t, dir, 20, ledger.Options{})
	writeChain(t, dir, 20, ledger.Options{})
	store := newMemory()
	ship(t, store, "web", dir)
	chains := chainsOf(t, store, "web")
	for _, cut := range []int{0, 10} { // the older chain arrives after the one that names it
		store.Edit(chains[0], func(lines [][]byte) [][]byte { return lines[:cut] })
		report, err := view.Verify(context.Background(), store, view.Options{})
		if err != nil || report.OK || !report.Incomplete() {
			t.Fatalf("got %v, %v; want entries that may not have been shipped", report.Damage, err)
		}
		mustVerify(t, &lateStore{memory: store, ship: func() { ship(t, store, "web", dir) }}, view.Options{Wait: time.Millisecond})
	}
}

func TestWrongTreeOfPrunedEntriesIsDamage(t *testing.T) {
	tree := regexp.MustCompile(`"tree":\["[^"]+",?`)
	tried := 0
	honestFleet(t)
	for chain, lines := range honest.lines {
		if seqOf(lines[0]) == 1 || !tree.Match(lines[0]) {
			continue
		}
		tried++
		for _, edges := range []string{`"tree":[`, `"tree":["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",`} {
			store, state := honestFleet(t)
			store.Edit(chain, func(lines [][]byte) [][]byte {
				lines[0] = rehash(tree.ReplaceAll(lines[0], []byte(edges)))
				return relink(lines)
			})
			requireDamage(t, store, view.Options{Known: state}, chain, 0)
		}
	}
	if tried == 0 {
		t.Error("no chain of the fleet was pruned")
	}
}

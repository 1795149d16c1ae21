package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// TestSumIsStable fixes the hash of a record, which other programs compute, too.
func TestSumIsStable(t *testing.T) {
	r := Record{ID: "1", Type: "plan", TaskID: "2", AgentID: "3", SessionID: "4", Content: "é <b>\n", Timestamp: "2026-01-02T03:04:05.000006Z"}
	r.Link(nil)
	// printf '{"agent_id":"3","content":"é <b>\\n","id":"1","prev_hash":"000…","seq":1,"session_id":"4","task_id":"2",
	// "timestamp":"2026-01-02T03:04:05.000006Z","type":"plan"}' | sha256sum
	const want = "eb3e6248ab48bb77f2904f0fa715e67a4a04db3df33feead62478960fe4ea303"
	if r.Hash != want {
		t.Errorf("got %s, want %s", r.Hash, want)
	}
}

// TestRootAndProofsAreThoseOfRFC6962 checks the root of a small tree by hand, and all proofs.
func TestRootAndProofsAreThoseOfRFC6962(t *testing.T) {
	leaf := func(i int) tlog.Hash { h, _ := hash32(Digest(fmt.Sprint(i))); return tlog.RecordHash(h[:]) }
	var tree Tree
	for i := range 3 {
		if err := tree.Add(Digest(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	want := tlog.NodeHash(tlog.NodeHash(leaf(0), leaf(1)), leaf(2))
	if root, err := tree.Root(); err != nil || root != fmt.Sprintf("%x", want[:]) {
		t.Errorf("got %s, %v, want %x", root, err, want[:])
	}
	for i := range int64(3) {
		p, err := tree.Prove(i)
		if err != nil {
			t.Fatal(err)
		}
		var hashes tlog.RecordProof
		for _, text := range p.Hashes {
			h, _ := hash32(text)
			hashes = append(hashes, h)
		}
		if err := tlog.CheckRecord(hashes, 3, want, i, leaf(int(i))); err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if _, err := tree.Prove(3); err == nil {
		t.Error("a record that the tree does not have is proven")
	}
	for _, bad := range []string{"", "zz", Digest("")[:62], Digest("") + "00"} {
		if tree.Add(bad) == nil {
			t.Errorf("%q is added", bad)
		}
	}
}

func chain(n int) (all []Record) {
	var head *Record
	for i := range n {
		r := Record{ID: string(rune('a' + i)), TaskID: "t", AgentID: "x", Type: "plan", Content: "c", Timestamp: "now"}
		r.Link(head)
		all = append(all, r)
		head = &all[i]
	}
	return all
}

func attests(t *testing.T, r Record) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]any{Key: Attestation{Store: "s", Thought: &Anchor{r.ID, Place{r.TaskID, r.Seq}, r.Hash}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestExportWithAnyChangeIsRefused(t *testing.T) {
	whole := chain(4)
	head := attests(t, whole[3])
	if err := (&Thoughts{Task: Task{ID: "t"}, Records: whole}).Check(head); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]Record) []Record{
		"changed":        func(r []Record) []Record { r[1].Content = "forged"; return r },
		"changed, refit": func(r []Record) []Record { r[1].Content = "forged"; r[1].Hash = r[1].Sum(); return r },
		"first removed":  func(r []Record) []Record { return r[1:] },
		"middle removed": func(r []Record) []Record { return append(r[:1], r[2:]...) },
		"last removed":   func(r []Record) []Record { return r[:3] },
		"one added": func(r []Record) []Record {
			more := Record{ID: "z", TaskID: "t"}
			more.Link(&r[3])
			return append(r, more)
		},
		"rewritten": func(r []Record) []Record {
			var head *Record
			for i := range r {
				r[i].Content = "forged"
				r[i].Link(head)
				head = &r[i]
			}
			return r
		},
		"another task": func(r []Record) []Record { r[0].TaskID = "u"; return r },
		"none":         func([]Record) []Record { return nil },
	} {
		if (&Thoughts{Task: Task{ID: "t"}, Records: change(chain(4))}).Check(head) == nil {
			t.Errorf("%s: it passes", name)
		}
	}
	for _, data := range []string{``, `{}`, `{"attests":{"store":"s"}}`, `{"attests":5}`} {
		if (&Thoughts{Task: Task{ID: "t"}, Records: whole}).Check(json.RawMessage(data)) == nil {
			t.Errorf("an entry with %s passes", data)
		}
	}
}

// TestReadExportRefusesEveryTwin adds to each member of a file a second one with the same name, or with a name that
// differs in case, before and after it. Every such file must be refused, because a reader and the check could see
// different values.
func TestReadExportRefusesEveryTwin(t *testing.T) {
	f := Export{
		Proof:    ledgerproof.Proof{V: 1, Chain: "c", Seq: 1, Entry: "{}", Hashes: []tlog.Hash{{1}}, Checkpoint: "x"},
		Thoughts: &Thoughts{Task: Task{ID: "t", Title: "x", Description: "y", DependsOn: []string{"z"}, CreatedAt: time.Unix(1, 0)}, Records: chain(2)},
	}
	whole, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadExport(whole); err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, m := range membersOf(t, whole) {
		members++
		for _, name := range []string{m.name, strings.ToUpper(m.name), strings.ToUpper(m.name[:1]) + m.name[1:], "x_" + m.name} {
			for _, value := range []string{m.value, `"forged"`, `null`, `{}`} {
				twin, own := `"`+name+`":`+value, `"`+m.name+`":`+m.value
				for _, pair := range []string{twin + "," + own, own + "," + twin} {
					changed := string(whole[:m.from]) + pair + string(whole[m.to:])
					if _, err := ReadExport([]byte(changed)); err == nil {
						t.Errorf("it is read: %s", changed)
					}
				}
				if name != m.name {
					if _, err := ReadExport([]byte(string(whole[:m.from]) + twin + string(whole[m.to:]))); err == nil {
						t.Errorf("%s is read in place of %s", name, m.name)
					}
				}
			}
		}
	}
	if members != 37 {
		t.Errorf("%d members were tried", members)
	}
	for _, after := range []string{"{}", string(whole), "x", "\x00"} {
		if _, err := ReadExport([]byte(string(whole) + after)); err == nil {
			t.Errorf("%.20q after the file is ignored", after)
		}
	}
}

// member is a member of an object in a text, with the offsets of its name and value.
type member struct {
	name, value string
	from, to    int
}

// membersOf returns all members in a compact text, including those of nested objects.
func membersOf(t *testing.T, text []byte) (all []member) {
	t.Helper()
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := i + 1
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		if end+1 < len(text) && text[end+1] == ':' {
			d := json.NewDecoder(bytes.NewReader(text[end+2:]))
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			all = append(all, member{string(text[i+1 : end]), string(value), i, end + 2 + int(d.InputOffset())})
		}
		i = end
	}
	return all
}

func round(voters, quorum int) *Round {
	r := &Round{Quorum: quorum, State: Open}
	for i := range voters {
		r.Voters = append(r.Voters, fmt.Sprintf("v%03d", i))
	}
	return r
}

// TestFinalityNeverChanges casts votes in random orders and checks that a decision follows from the votes, is made as
// early as possible, and never changes.
func TestFinalityNeverChanges(t *testing.T) {
	for range 2000 {
		voters := 1 + rand.IntN(9)
		quorum := voters/2 + 1 + rand.IntN(voters-voters/2)
		r := round(voters, quorum)
		accepted, rejected := 0, 0
		decided := Open
		for _, i := range rand.Perm(voters) {
			choice := Accept
			if rand.IntN(2) == 0 {
				choice = Reject
				rejected++
			} else {
				accepted++
			}
			r.Add(Vote{Voter: r.Voters[i], Choice: choice, CastAt: fmt.Sprint(i)})
			want := decided
			if want == Open && accepted >= quorum {
				want = Accepted
			} else if want == Open && accepted+voters-accepted-rejected < quorum {
				want = Rejected
			}
			if r.State != want {
				t.Fatalf("%d voters, quorum %d, %d accepted, %d rejected: %s, want %s", voters, quorum, accepted, rejected, r.State, want)
			}
			decided = r.State
		}
		if decided == Open {
			t.Fatalf("%d voters, quorum %d: all have voted, and nothing is decided", voters, quorum)
		}
		for i := 1; i < len(r.Votes); i++ {
			if r.Votes[i-1].Voter >= r.Votes[i].Voter {
				t.Fatal("the votes are not sorted")
			}
		}
	}
}

func TestScoreFollowsFromOutcomes(t *testing.T) {
	for _, row := range []struct {
		counts map[Kind]int
		want   float64
	}{
		{nil, 0.5},
		{map[Kind]int{TaskDone: 1}, 0.6667},
		{map[Kind]int{TaskDone: 8}, 0.9},
		{map[Kind]int{Equivocation: 1}, 0.1429},
		{map[Kind]int{TaskDone: 2, TaskCancelled: 2}, 0.6},
	} {
		if got := ScoreOf("a", row.counts); got.Value != row.want {
			t.Errorf("%v: %v, want %v", row.counts, got.Value, row.want)
		}
	}
}

func TestGates(t *testing.T) {
	passed := func(counts map[Kind]int) (names []string) {
		s := ScoreOf("a", counts)
		for _, g := range Gates {
			if result := s.Check(g); result.Passed {
				names = append(names, g.Name)
			} else if len(result.Lacks) == 0 {
				t.Errorf("%s is not passed, and nothing is missing", g.Name)
			}
		}
		return names
	}
	for _, row := range []struct {
		counts map[Kind]int
		want   []string
	}{
		{nil, []string{"contribute"}},
		{map[Kind]int{TaskDone: 3}, []string{"contribute", "review"}},
		{map[Kind]int{TaskDone: 10}, []string{"contribute", "review", "arbitrate"}},
		{map[Kind]int{TaskDone: 100, Equivocation: 1}, []string{"contribute", "review"}},
		{map[Kind]int{Equivocation: 1}, nil},
	} {
		if got := passed(row.counts); !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, want %v", row.counts, got, row.want)
		}
	}
}

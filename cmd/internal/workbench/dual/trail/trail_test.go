package trail

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// chain returns n records of a task.
func chain(task string, n int) []Record {
	var all []Record
	var head *Record
	for i := range n {
		r := Record{ID: fmt.Sprintf("%s-%d", task, i), Type: TypeAnalysis, TaskID: task, AgentID: "agent", SessionID: "session",
			Content: "<thought> & \u2028", Timestamp: Stamp(time.Unix(int64(i), 0))}
		r.Link(head)
		all = append(all, r)
		head = &all[i]
	}
	return all
}

func interleave(a, b []Record) (all []Record) {
	for i := range a {
		all = append(all, a[i], b[i])
	}
	return all
}

// verify adds the records task by task, as a database returns them, and compares them with the attestations.
func verify(records []Record, anchors ...Anchor) []Broken {
	var v Verifier
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b Record) int { return strings.Compare(a.TaskID, b.TaskID) })
	for i := range records {
		v.Add(&records[i])
	}
	for _, a := range anchors {
		hash := ""
		if i := slices.IndexFunc(records, func(r Record) bool { return r.TaskID == a.TaskID && r.Seq == a.Seq }); i >= 0 {
			hash = records[i].Hash
		}
		v.Attested(a, hash)
	}
	return v.Broken()
}

func anchors(records []Record) (all []Anchor) {
	for _, r := range records {
		all = append(all, Anchor{r.ID, r.TaskID, r.Seq, r.Hash})
	}
	return all
}

func TestVerifyInterleavedTasks(t *testing.T) {
	all := interleave(chain("a", 20), chain("b", 20))
	if broken := verify(all, anchors(all)...); broken != nil {
		t.Errorf("an intact trail is broken: %v", broken)
	}
}

// TestVerifyFindsAChangeOfEveryField changes each field of a record, also with an updated hash. It finds the fields by
// reflection, so that it covers fields that are added later.
func TestVerifyFindsAChangeOfEveryField(t *testing.T) {
	kind := reflect.TypeFor[Record]()
	for i := range kind.NumField() {
		for _, refit := range []bool{false, true} {
			all := interleave(chain("a", 5), chain("b", 5))
			attested := anchors(all)
			field := reflect.ValueOf(&all[4]).Elem().Field(i)
			if field.Kind() == reflect.String {
				field.SetString(strings.Repeat("f", 64))
			} else {
				field.SetInt(field.Int() + 1)
			}
			if refit {
				all[4].Hash = all[4].Sum()
			}
			if kind.Field(i).Name == "Hash" && refit {
				continue // unchanged
			}
			if broken := verify(all, attested...); len(broken) == 0 {
				t.Errorf("a change of %s, hash refitted %v, is not found", kind.Field(i).Name, refit)
			}
		}
	}
}

func TestVerifyFindsRemovals(t *testing.T) {
	whole := chain("a", 5)
	for i := range whole {
		left := append(append([]Record{}, whole[:i]...), whole[i+1:]...)
		if broken := verify(left, anchors(whole)...); len(broken) == 0 {
			t.Errorf("the removal of record %d is not found", i+1)
		}
	}
	if broken := verify(nil, anchors(whole)...); len(broken) != 5 {
		t.Errorf("the removal of a whole chain: %v", broken)
	}
}

// TestVerifyFindsARewrittenChain has a chain in which every hash and link is valid, so that only the attestations show
// the change.
func TestVerifyFindsARewrittenChain(t *testing.T) {
	attested := anchors(chain("a", 3))
	forged := chain("a", 3)
	var head *Record
	for i := range forged {
		forged[i].Content = "forged"
		forged[i].Link(head)
		head = &forged[i]
	}
	if broken := verify(forged); broken != nil {
		t.Fatalf("the forged chain should fit itself: %v", broken)
	}
	if broken := verify(forged, attested...); len(broken) != 3 || broken[0].Fault != FaultReplaced {
		t.Errorf("got %v", broken)
	}
}

// TestVerifyCountsAllAndKeepsFew has many broken records, each of which must count once, even if it was attested twice.
func TestVerifyCountsAllAndKeepsFew(t *testing.T) {
	var v Verifier
	for i := range 2 * knownFaults {
		v.Add(&Record{TaskID: "a", Seq: int64(i + 1)})
	}
	for range 2 {
		for i := range knownFaults {
			v.Attested(Anchor{TaskID: "a", Seq: int64(i + 1), Hash: Genesis}, "other")
		}
	}
	if v.Faults() != 2*knownFaults || len(v.Broken()) != shownFaults || len(v.faulty) != knownFaults || v.Count() != 2*knownFaults || v.Tasks() != 1 {
		t.Errorf("%d faults, %d shown, %d kept, %d records, %d tasks", v.Faults(), len(v.Broken()), len(v.faulty), v.Count(), v.Tasks())
	}
}

// TestSumIsStable fixes the hash of a record, which other programs compute, too.
func TestSumIsStable(t *testing.T) {
	r := Record{ID: "1", Type: TypePlan, TaskID: "2", AgentID: "3", SessionID: "4", Content: "é <b>\n", Timestamp: "2026-01-02T03:04:05.000006Z"}
	r.Link(nil)
	// printf '{"agent_id":"3","content":"é <b>\\n","id":"1","prev_hash":"000…","seq":1,"session_id":"4","task_id":"2",
	// "timestamp":"2026-01-02T03:04:05.000006Z","type":"plan"}' | sha256sum
	const want = "eb3e6248ab48bb77f2904f0fa715e67a4a04db3df33feead62478960fe4ea303"
	if r.Hash != want {
		t.Errorf("got %s, want %s", r.Hash, want)
	}
}

package trail

// Fault is why a record is broken.
type Fault string

// The faults.
const (
	FaultHash     Fault = "hash_mismatch"   // a field was changed
	FaultLink     Fault = "link_broken"     // it does not follow the record before it
	FaultSeq      Fault = "number_broken"   // a record before it is missing or was moved
	FaultMissing  Fault = "record_missing"  // it was recorded, and is gone
	FaultReplaced Fault = "record_replaced" // another record was recorded in its place
)

// Broken is a record that does not verify.
type Broken struct {
	TaskID string `json:"task_id"`
	Seq    int64  `json:"seq"`
	ID     string `json:"id,omitempty"` // "" if the record is gone
	Fault  Fault  `json:"fault"`
}

// Anchor is what was attested of a record when it was made, in a place apart from the records.
type Anchor struct {
	ID     string `json:"id"`
	TaskID string `json:"task_id"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

// Verifier checks the chains of tasks. Records may be given in any mixture of tasks, as long as those of a task are in their order.
// The zero value is ready.
type Verifier struct {
	heads  map[string]*state
	faulty map[*state]map[int64]bool // records that are in broken
	broken []Broken
	count  int
}

// state is how far a task's chain was followed.
type state struct {
	seq    int64
	hash   string
	hashes map[int64]string // of the records, by number
}

// Add checks the next record. Each record counts as broken at most once.
func (v *Verifier) Add(r *Record) {
	if v.heads == nil {
		v.heads, v.faulty = map[string]*state{}, map[*state]map[int64]bool{}
	}
	head := v.heads[r.TaskID]
	if head == nil {
		head = &state{hash: Genesis, hashes: map[int64]string{}}
		v.heads[r.TaskID] = head
	}
	v.count++
	switch {
	case r.Sum() != r.Hash:
		v.fault(head, r, FaultHash)
	case r.Seq != head.seq+1:
		v.fault(head, r, FaultSeq)
	case r.PrevHash != head.hash:
		v.fault(head, r, FaultLink)
	}
	head.seq, head.hash = r.Seq, r.Hash
	head.hashes[r.Seq] = r.Hash
}

func (v *Verifier) fault(head *state, r *Record, f Fault) {
	if v.faulty[head] == nil {
		v.faulty[head] = map[int64]bool{}
	}
	v.faulty[head][r.Seq] = true
	v.broken = append(v.broken, Broken{r.TaskID, r.Seq, r.ID, f})
}

// Attested compares what was attested with the records that were added, after the last of them. It finds records that were removed from the
// end of a chain, and chains that were rewritten as a whole.
func (v *Verifier) Attested(a Anchor) {
	hash, ok := "", false
	head := v.heads[a.TaskID]
	if head != nil {
		hash, ok = head.hashes[a.Seq]
	}
	switch {
	case !ok:
		v.broken = append(v.broken, Broken{TaskID: a.TaskID, Seq: a.Seq, Fault: FaultMissing})
	case hash != a.Hash && !v.faulty[head][a.Seq]:
		v.broken = append(v.broken, Broken{a.TaskID, a.Seq, a.ID, FaultReplaced})
	}
}

// Count returns how many records were added.
func (v *Verifier) Count() int { return v.count }

// Tasks returns how many tasks they belong to.
func (v *Verifier) Tasks() int { return len(v.heads) }

// Broken returns what does not verify, in the order in which it was found.
func (v *Verifier) Broken() []Broken { return v.broken }

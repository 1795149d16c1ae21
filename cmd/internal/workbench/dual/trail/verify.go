package trail

// Fault is the reason why a record does not verify.
type Fault string

// The faults.
const (
	FaultHash     Fault = "hash_mismatch"       // a field was changed
	FaultLink     Fault = "link_broken"         // it does not follow the record before it
	FaultSeq      Fault = "number_broken"       // a record before it is missing or was moved
	FaultMissing  Fault = "record_missing"      // the ledger attests it, but the database does not have it
	FaultReplaced Fault = "record_replaced"     // the ledger attests another record at its position
	FaultUnproven Fault = "attestation_missing" // it was attested, but the ledger does not have the entry
)

// Broken is a record that does not verify.
type Broken struct {
	TaskID string `json:"task_id"`
	Seq    int64  `json:"seq"`
	ID     string `json:"id,omitempty"` // "" if the record is missing
	Fault  Fault  `json:"fault"`
}

// Anchor is the attestation of a record, which is stored separately from the records.
type Anchor struct {
	ID     string `json:"id"`
	TaskID string `json:"task_id"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

// Limits of the memory of a [Verifier].
const (
	shownFaults = 20
	knownFaults = 10000
)

// Verifier checks the chains of tasks. The records of a task must be added consecutively, in the order in which they
// were made. Its memory does not grow with the number of records. The zero value is ready to use.
type Verifier struct {
	head   position
	count  int
	tasks  int
	broken []Broken
	faults int
	faulty map[position]bool // the first broken records, so that each counts once
}

// position is a position in the chain of a task. For the head of a chain it has the hash of the record there.
type position struct {
	task string
	seq  int64
	hash string
}

// Add checks the next record.
func (v *Verifier) Add(r *Record) {
	if v.count == 0 || r.TaskID != v.head.task {
		v.tasks++
		v.head = position{task: r.TaskID, hash: Genesis}
	}
	v.count++
	switch {
	case r.Sum() != r.Hash:
		v.fault(Broken{r.TaskID, r.Seq, r.ID, FaultHash})
	case r.Seq != v.head.seq+1:
		v.fault(Broken{r.TaskID, r.Seq, r.ID, FaultSeq})
	case r.PrevHash != v.head.hash:
		v.fault(Broken{r.TaskID, r.Seq, r.ID, FaultLink})
	}
	v.head.seq, v.head.hash = r.Seq, r.Hash
}

// fault counts a broken record. Each record counts once, as long as no more than knownFaults are broken.
func (v *Verifier) fault(b Broken) {
	at := position{task: b.TaskID, seq: b.Seq}
	if v.faulty[at] {
		return
	}
	if v.faulty == nil {
		v.faulty = map[position]bool{}
	}
	if len(v.faulty) < knownFaults {
		v.faulty[at] = true
	}
	v.faults++
	if len(v.broken) < shownFaults {
		v.broken = append(v.broken, b)
	}
}

// Attested compares an attestation with the hash of the record at its position, "" if there is none. It finds records
// that were removed from the end of a chain, and chains that were completely rewritten.
func (v *Verifier) Attested(a Anchor, hash string) {
	switch hash {
	case a.Hash:
	case "":
		v.fault(Broken{TaskID: a.TaskID, Seq: a.Seq, Fault: FaultMissing})
	default:
		v.fault(Broken{a.TaskID, a.Seq, a.ID, FaultReplaced})
	}
}

// Unproven counts a record whose attestation is not at the ledger position stored in the database.
func (v *Verifier) Unproven(task string, seq int64, id string) {
	v.fault(Broken{task, seq, id, FaultUnproven})
}

// Count returns the number of records added.
func (v *Verifier) Count() int { return v.count }

// Tasks returns the number of tasks that they belong to.
func (v *Verifier) Tasks() int { return v.tasks }

// Broken returns the first 20 records that do not verify, in the order in which they were found.
func (v *Verifier) Broken() []Broken { return v.broken }

// Faults returns the number of records that do not verify.
func (v *Verifier) Faults() int { return v.faults }

package plan

// Status is what the header of a stored plan claims.
type Status string

// The two statuses. The header is for readers: only an [Approval] makes a plan approved.
const (
	StatusProposed Status = "PROPOSED"
	StatusApproved Status = "APPROVED"
)

// Stored is a plan as it lies in the workspace, with its hash checked.
type Stored struct {
	Hash     string
	Status   Status // as the header claims
	Body     []byte // canonical, without the header
	Plan     *Plan
	Warnings []Issue

	// Approval is the record of the person's approval, and nil without one. Only [Store] fills it.
	Approval *Approval
	// Refusal says why the plan is not approved, and is empty if it is. Only [Store] fills it.
	Refusal string
}

// Approved reports whether header and record agree that a person approved this very content.
func (s Stored) Approved() bool {
	return s.Status == StatusApproved && s.Approval != nil && s.Refusal == ""
}

// Enforce refuses a change of path that the plan does not allow: PLAN_NOT_APPROVED or PLAN_SCOPE_VIOLATION.
func (s Stored) Enforce(path string) error { return nil }

// Hash is the hash of a plan: sha256 in hex of its canonical form.
func Hash(content []byte) string { return "" }

// Canonical is the form of a plan that is hashed and stored: CRLF is LF, and there is exactly one line end at the end.
func Canonical(content []byte) []byte { return content }

// Name is the name of a plan's file in [Folder].
func Name(hash string) string { return hash + ".md" }

// Render writes a plan as it lies on disk.
func Render(body []byte, hash string, status Status) []byte { return nil }

// Read reads a plan from disk. name is the name of the file, without a folder.
func Read(file []byte, name string) (Stored, error) { return Stored{}, nil }

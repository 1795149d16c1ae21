package plan

import "time"

// Files is the folder of plans, as a workspace offers it. Names are names of files in [Folder], without it.
type Files interface {
	// ReadPlan returns a file: an error that is [io/fs.ErrNotExist] or FILE_NOT_FOUND if there is none. It need not return more than
	// [MaxFile]+1 bytes of a larger one, and must not follow links out of the workspace.
	ReadPlan(name string) ([]byte, error)
	// WritePlan writes a file as a whole, making the folder if need be.
	WritePlan(name string, content []byte) error
	// ListPlans returns the names in the folder, in any order, junk included. No folder is no error, or [io/fs.ErrNotExist].
	ListPlans() ([]string, error)
}

// Store is the plans of one workspace with their approvals. It is safe for concurrent use if its Files are.
type Store struct {
	files     Files
	approvals *Approvals
	root      string
}

// NewStore joins the files of a workspace with its approvals. root is its [RootDigest].
func NewStore(files Files, approvals *Approvals, root string) *Store {
	return &Store{files: files, approvals: approvals, root: root}
}

// Summary is a plan in a list.
type Summary struct {
	Hash    string   `json:"hash"`
	Title   string   `json:"title,omitempty"`
	Status  Status   `json:"status"`
	Scope   []string `json:"scope,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// Listing is the plans of a workspace, as many as fit.
type Listing struct {
	Plans []Summary `json:"plans"`
	More  int       `json:"more,omitempty"` // plans that were left out
	Junk  int       `json:"junk,omitempty"` // names in the folder that are no plans
}

// Submit stores a proposed plan under its hash. The same content again changes nothing.
func (s *Store) Submit(content []byte) (hash string, existed bool, err error) { return "", false, nil }

// List returns the plans sorted by hash.
func (s *Store) List() (Listing, error) { return Listing{}, nil }

// Load returns the plan with this hash, or the one whose hash begins so.
func (s *Store) Load(hash string) (Stored, error) { return Stored{}, nil }

// Enforce refuses a change of path that the plan does not allow.
func (s *Store) Enforce(hash, path string) error { return nil }

// Approve records that a person approved the plan, and writes so into its header.
func (s *Store) Approve(hash, by, note string, at time.Time) (Stored, error) { return Stored{}, nil }

// Revoke takes an approval back.
func (s *Store) Revoke(hash string) (Stored, error) { return Stored{}, nil }

// Previous returns the plan that was approved last, other than this one, and nil if there is none.
func (s *Store) Previous(hash string) (*Stored, error) { return nil, nil }

package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Files is the folder of plans in a workspace. Names are file names in [Folder], without the folder.
type Files interface {
	// ReadPlan returns the content of a file. The error is [io/fs.ErrNotExist], FILE_NOT_FOUND or PATH_NOT_FOUND if the
	// file does not exist. ReadPlan may return only the first [MaxFile]+1 bytes of a larger file, and must not follow
	// links out of the workspace.
	ReadPlan(name string) ([]byte, error)
	// WritePlan writes a whole file and creates the folder if necessary.
	WritePlan(name string, content []byte) error
	// ListPlans returns the names in the folder in any order, including names that are not plans. If the folder does not
	// exist, it returns no names, or an error like ReadPlan.
	ListPlans() ([]string, error)
}

// Limits of a list.
const (
	maxListed      = 1_000
	maxListedBytes = 16 << 20 // total size of the files read
)

// Store is the plans of one workspace with their approvals. It does not cache: every use reads and hashes again. It is
// safe for concurrent use if its Files are.
type Store struct {
	files     Files
	approvals *Approvals
	root      string
	now       func() time.Time
}

// NewStore returns a store for the files of a workspace and its approvals. root is the [RootDigest] of the workspace.
func NewStore(files Files, approvals *Approvals, root string) *Store {
	return &Store{files: files, approvals: approvals, root: root, now: time.Now}
}

// Submit stores a proposed plan under its hash. existed is true if it was already stored; a file that was altered is
// written again with its recorded status. The error is INVALID_INPUT_VALUE if the plan has errors; details.issues lists
// the first of them.
func (s *Store) Submit(content []byte) (hash string, existed bool, err error) {
	if p, issues := Parse(content); p == nil {
		return "", false, candor.New(kaiza.InvalidInputValue, "The plan has errors.",
			candor.WithDetails(map[string]any{"issues": worst(issues), "count": len(issues)}),
			candor.WithSuggestion("Fix the issues in details and submit the plan again; lint_plan shows them without submitting."))
	}
	hash = Hash(content)
	if _, err := s.read(hash); err == nil {
		return hash, true, nil
	} else if !isPlanError(err) {
		return hash, false, err
	}
	status := StatusProposed
	if _, err := s.approvals.Lookup(s.root, hash); err == nil {
		status = StatusApproved
	}
	if err := s.files.WritePlan(Name(hash), Render(content, hash, status)); err != nil {
		return hash, false, otherwise(err, kaiza.FileWriteFailed, "The plan could not be stored.", hash)
	}
	return hash, false, nil
}

// Load reads and hashes the plan with this hash, or with a unique prefix of at least [MinPrefix] digits. The errors are
// those of [Read], PLAN_NOT_FOUND, INVALID_INPUT_FORMAT for a malformed hash, and INVALID_INPUT_VALUE for an ambiguous
// prefix. Load also returns plans that are not approved; see [Stored.Approved].
func (s *Store) Load(hash string) (Stored, error) {
	full, err := s.resolve(hash)
	if err != nil {
		return Stored{}, err
	}
	stored, err := s.read(full)
	if err != nil {
		return Stored{}, err
	}
	return s.judge(stored), nil
}

// Enforce returns an error if the plan does not allow a change of path: PLAN_NOT_FOUND, PLAN_NOT_APPROVED,
// PLAN_ENFORCEMENT_FAILED or PLAN_SCOPE_VIOLATION, or an error of [Store.Load] about the hash. The path is relative to
// the workspace, clean, and written with slashes.
func (s *Store) Enforce(hash, path string) error {
	stored, err := s.Load(hash)
	if err != nil {
		return err
	}
	return stored.Enforce(path)
}

// Approve records that a person approved the plan and then updates its header. After a crash between the two the plan is
// not approved yet; approving it again completes it.
//
// Approving again resets the limits.
func (s *Store) Approve(hash, by, note string, at time.Time, within Limits) (Stored, error) {
	stored, err := s.Load(hash)
	if err != nil {
		return Stored{}, err
	}
	record := Approval{Plan: stored.Hash, Root: s.root, By: by, Note: note, At: at, Uses: within.Uses}
	if within.For != 0 {
		expires := at.Add(within.For).UTC()
		record.Expires = &expires
	}
	if err := s.approvals.Approve(record); err != nil {
		return Stored{}, err
	}
	return s.mark(stored, StatusApproved)
}

// Limits limits an approval. The zero value means no limits.
type Limits struct {
	For  time.Duration // validity period
	Uses int           // number of changes that may be made
}

// Revoke revokes an approval. It removes the record first, so that the plan is no longer approved even if its header
// cannot be updated. The file of the plan may be damaged or missing; the result then has a hash and no Plan.
func (s *Store) Revoke(hash string) (Stored, error) {
	full, err := s.Approvable(hash)
	if err != nil {
		return Stored{}, err
	}
	if _, err := s.approvals.Revoke(s.root, full); err != nil {
		return Stored{}, err
	}
	stored, err := s.read(full)
	if err != nil {
		return Stored{Hash: full}, nil //nolint:nilerr // the approval is removed, as requested
	}
	return s.mark(stored, StatusProposed)
}

// Approvable returns the full hash of a plan that exists or has an approval record. The errors are those of [Store.Load]
// for an unknown or ambiguous hash; plans whose file is missing count as well.
func (s *Store) Approvable(hash string) (string, error) {
	hash = strings.ToLower(hash)
	found, err := s.beginning(hash)
	if err != nil {
		return "", err
	}
	records, err := s.approvals.List(s.root)
	if err != nil {
		return "", otherwise(err, kaiza.FileReadFailed, "The approvals could not be listed.", "")
	}
	for _, record := range records {
		if strings.HasPrefix(record.Plan, hash) && !slices.Contains(found, record.Plan) {
			found = append(found, record.Plan)
		}
	}
	return only(hash, found)
}

// mark writes a status into the header.
func (s *Store) mark(stored Stored, status Status) (Stored, error) {
	if stored.Status != status {
		if err := s.files.WritePlan(Name(stored.Hash), Render(stored.Body, stored.Hash, status)); err != nil {
			return Stored{}, otherwise(err, kaiza.FileWriteFailed, "The header of the plan could not be written.", stored.Hash)
		}
	}
	return s.Load(stored.Hash)
}

// Previous returns the most recently approved plan other than this one, or nil if it does not exist or its file is
// missing.
func (s *Store) Previous(hash string) (*Stored, error) {
	records, err := s.approvals.List(s.root)
	if err != nil {
		return nil, err
	}
	for _, record := range slices.Backward(records) {
		if record.Problem != "" || record.Plan == hash {
			continue
		}
		if stored, err := s.Load(record.Plan); err == nil && stored.wasApproved() {
			return &stored, nil
		}
	}
	return nil, nil
}

// resolve returns the full hash for an abbreviated one. It returns a full hash unchanged, even if the file does not
// exist.
func (s *Store) resolve(hash string) (string, error) {
	hash = strings.ToLower(hash)
	if fullHash.MatchString(hash) {
		return hash, nil
	}
	found, err := s.beginning(hash)
	if err != nil {
		return "", err
	}
	return only(hash, found)
}

// beginning returns the hashes that begin with a prefix.
func (s *Store) beginning(hash string) (found []string, err error) {
	if fullHash.MatchString(hash) { // reading the file shows whether it exists
		if _, err := s.file(hash); codeOf(err) != kaiza.PlanNotFound {
			found = []string{hash}
		}
		return found, nil
	}
	if len(hash) < MinPrefix || len(hash) > 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil, candor.New(kaiza.InvalidInputFormat, "This is not the hash of a plan.",
			candor.WithSuggestion(fmt.Sprintf("Give the 64 digits of the hash, or at least the first %d of them.", MinPrefix)))
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if full := hashOfName(name); full != "" && strings.HasPrefix(full, hash) {
			found = append(found, full)
		}
	}
	return found, nil
}

// only returns the single hash that was found, or an error if there are none or several.
func only(hash string, found []string) (string, error) {
	switch len(found) {
	case 0:
		return "", candor.New(kaiza.PlanNotFound, "", candor.WithDetails(map[string]any{"plan": hash}))
	case 1:
		return found[0], nil
	default:
		slices.Sort(found)
		return "", candor.New(kaiza.InvalidInputValue, "Several plans have a hash with this prefix.",
			candor.WithDetails(map[string]any{"plans": some(found), "count": len(found)}), candor.WithSuggestion("Give more digits of the hash."))
	}
}

// names returns the names in the folder, sorted.
func (s *Store) names() ([]string, error) {
	names, err := s.files.ListPlans()
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, otherwise(err, kaiza.FileReadFailed, "The plans could not be listed.", "")
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return names, nil
}

// read reads one plan and checks its hashes.
func (s *Store) read(hash string) (Stored, error) {
	file, err := s.file(hash)
	if err != nil {
		return Stored{}, err
	}
	return Read(file, Name(hash))
}

// file returns the content of the file for a hash.
func (s *Store) file(hash string) ([]byte, error) {
	file, err := s.files.ReadPlan(Name(hash))
	if absent(err) {
		return nil, candor.New(kaiza.PlanNotFound, "", candor.WithPlan(hash), candor.WithDetails(map[string]any{"plan": hash}))
	}
	if err != nil {
		return nil, otherwise(err, kaiza.FileReadFailed, "The plan could not be read.", hash)
	}
	return file, nil
}

// judge sets whether the plan is approved, according to its record, which must be valid, and its header.
func (s *Store) judge(stored Stored) Stored {
	record, err := s.approvals.Lookup(s.root, stored.Hash)
	switch {
	case err != nil:
		stored.reason, stored.Refusal = refusal(err)
		if stored.Status == StatusApproved && stored.reason == "no_record" {
			stored.reason, stored.Refusal = "header_without_record", "The header says approved, but no valid approval is recorded for this workspace: it was never given, was taken back, or is lost."
		}
	case ended(&record, s.now(), &stored):
		stored.Approval = &record
	case stored.Status != StatusApproved:
		stored.Approval = &record
		stored.reason, stored.Refusal = "unmarked", "The approval is recorded, but the header does not say so; it must be approved once more."
	default:
		stored.Approval = &record
	}
	return stored
}

// ended reports whether an approval has ended, and stores the reason in the plan.
func ended(record *Approval, now time.Time, stored *Stored) bool {
	reason, sentence := record.Ended(now)
	if reason != "" {
		stored.reason, stored.Refusal = reason, sentence
	}
	return reason != ""
}

// wasApproved reports whether the approval of a plan is valid, or was valid until it expired or was used up.
func (s Stored) wasApproved() bool {
	return s.Approved() || s.Approval != nil && (s.reason == "expired" || s.reason == "used_up")
}

// absent reports whether an error means that a file does not exist.
func absent(err error) bool {
	code := codeOf(err)
	return code == kaiza.FileNotFound || code == kaiza.PathNotFound || errors.Is(err, fs.ErrNotExist)
}

// isPlanError reports whether err means that the plan is missing or damaged, rather than unreadable.
func isPlanError(err error) bool {
	code := codeOf(err)
	return code == kaiza.PlanNotFound || code == kaiza.PlanNotApproved || code == kaiza.PlanEnforcementFailed
}

// codeOf returns the code of a *candor.Error, or the zero Code for other errors.
func codeOf(err error) candor.Code {
	if e, ok := errors.AsType[*candor.Error](err); ok {
		return e.Code()
	}
	return candor.Code{}
}

// otherwise returns an error that has a code unchanged and wraps any other with the given code.
func otherwise(err error, code candor.Code, message, hash string) error {
	if e, ok := errors.AsType[*candor.Error](err); ok {
		return e
	}
	return candor.New(code, message, candor.WithPlan(hash), candor.WithCause(err))
}

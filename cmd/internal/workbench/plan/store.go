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
	// ReadPlan returns the content of a file. The error is [io/fs.ErrNotExist] if the file does not exist. ReadPlan may
	// return only the first [MaxFile]+1 bytes of a larger file, and must not follow links out of the workspace.
	ReadPlan(name string) ([]byte, error)
	// WritePlan writes a whole file and creates the folder if necessary.
	WritePlan(name string, content []byte) error
	// ListPlans returns the names in the folder in any order, including names that are not plans. If the folder does
	// not exist, it returns no names.
	ListPlans() ([]string, error)
}

// maxListed limits the plans of a list.
const maxListed = 1_000

// Store is the plans of one workspace with their approvals. It does not cache: every use reads and hashes again. It is
// safe for concurrent use if its Files are.
type Store struct {
	files     Files
	approvals *Approvals
	root      string
}

// NewStore returns a store for the files of a workspace and its approvals. root is the [RootDigest] of the workspace.
func NewStore(files Files, approvals *Approvals, root string) *Store {
	return &Store{files: files, approvals: approvals, root: root}
}

// Submit stores a proposed plan under its hash. existed is true if it was already stored; a file that was altered is
// written again with its recorded status. The error is INVALID_INPUT_VALUE if the plan has errors; details.issues lists
// the first of them.
func (s *Store) Submit(content []byte) (hash string, existed bool, err error) {
	if p, issues := Parse(content); p == nil {
		return "", false, candor.New(kaiza.InvalidInputValue, "The plan has errors.",
			candor.WithDetails(map[string]any{"issues": issues[:min(len(issues), maxShown)], "count": len(issues)}),
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
	full, err := s.resolve(hash, nil)
	if err != nil {
		return Stored{}, err
	}
	stored, err := s.read(full)
	if err != nil {
		return Stored{}, err
	}
	return s.judge(stored), nil
}

// Approve records that a person approved the plan and then updates its header. After a crash between the two the plan
// is not approved yet; approving it again completes it.
func (s *Store) Approve(hash, by, note string, at time.Time) (Stored, error) {
	stored, err := s.Load(hash)
	if err != nil {
		return Stored{}, err
	}
	if err := s.approvals.Approve(Approval{Plan: stored.Hash, Root: s.root, By: by, Note: note, At: at}); err != nil {
		return Stored{}, err
	}
	return s.mark(stored, StatusApproved)
}

// Revoke revokes an approval. It removes the record first, so that the plan is no longer approved even if its header
// cannot be updated. The file of the plan may be damaged or missing; the result then has a hash and no Plan.
func (s *Store) Revoke(hash string) (Stored, error) {
	full, err := s.Approvable(hash)
	if err != nil {
		return Stored{}, err
	}
	if err := s.approvals.Revoke(s.root, full); err != nil {
		return Stored{}, err
	}
	stored, err := s.read(full)
	if err != nil {
		return Stored{Hash: full}, nil //nolint:nilerr // the approval is removed, as requested
	}
	return s.mark(stored, StatusProposed)
}

// Approvable returns the full hash of a plan that exists or has an approval record. The errors are those of
// [Store.Load] for an unknown or ambiguous hash; plans without a file count as well.
func (s *Store) Approvable(hash string) (string, error) {
	records, err := s.approvals.List(s.root)
	if err != nil {
		return "", otherwise(err, kaiza.FileReadFailed, "The approvals could not be listed.", "")
	}
	var known []string
	for _, record := range records {
		known = append(known, record.Plan)
	}
	full, err := s.resolve(hash, known)
	if err != nil || slices.Contains(known, full) {
		return full, err
	}
	if _, err := s.file(full); candor.CodeOf(err) == kaiza.PlanNotFound {
		return "", err
	}
	return full, nil
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

// Resolve returns the full hash for an abbreviated one. The errors are those of [Store.Load] for a malformed, unknown or
// ambiguous hash; a full hash is returned unchanged.
func (s *Store) Resolve(hash string) (string, error) { return s.resolve(hash, nil) }

// resolve returns the full hash for an abbreviated one, of a plan in the folder or among the known ones. It returns a
// full hash unchanged, even if the file does not exist.
func (s *Store) resolve(hash string, known []string) (string, error) {
	hash = strings.ToLower(hash)
	if fullHash.MatchString(hash) {
		return hash, nil
	}
	if len(hash) < MinPrefix || len(hash) > 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", candor.New(kaiza.InvalidInputFormat, "This is not the hash of a plan.",
			candor.WithSuggestion(fmt.Sprintf("Give the 64 digits of the hash, or at least the first %d of them.", MinPrefix)))
	}
	names, err := s.names()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		known = append(known, hashOfName(name))
	}
	known = slices.DeleteFunc(known, func(full string) bool { return !strings.HasPrefix(full, hash) })
	slices.Sort(known)
	switch known = slices.Compact(known); len(known) {
	case 0:
		return "", candor.New(kaiza.PlanNotFound, "", candor.WithDetails(map[string]any{"plan": hash}))
	case 1:
		return known[0], nil
	}
	return "", candor.New(kaiza.InvalidInputValue, "Several plans have a hash with this prefix.",
		candor.WithDetails(map[string]any{"plans": known[:min(len(known), maxShown)], "count": len(known)}), candor.WithSuggestion("Give more digits of the hash."))
}

// names returns the names in the folder, sorted.
func (s *Store) names() ([]string, error) {
	names, err := s.files.ListPlans()
	if err != nil {
		return nil, otherwise(err, kaiza.FileReadFailed, "The plans could not be listed.", "")
	}
	return slices.Sorted(slices.Values(names)), nil
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, candor.New(kaiza.PlanNotFound, "", withPlan(hash), candor.WithDetails(map[string]any{"plan": hash}))
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
	case stored.Status != StatusApproved:
		stored.Approval = &record
		stored.reason, stored.Refusal = "unmarked", "The approval is recorded, but the header does not say so; it must be approved once more."
	default:
		stored.Approval = &record
	}
	return stored
}

// isPlanError reports whether err means that the plan is missing or damaged, rather than unreadable.
func isPlanError(err error) bool {
	return slices.Contains([]candor.Code{kaiza.PlanNotFound, kaiza.PlanNotApproved, kaiza.PlanEnforcementFailed}, candor.CodeOf(err))
}

// otherwise returns an error that has a code unchanged and wraps any other with the given code.
func otherwise(err error, code candor.Code, message, hash string) error {
	if e, ok := errors.AsType[*candor.Error](err); ok {
		return e
	}
	return candor.New(code, message, withPlan(hash), candor.WithCause(err))
}

// withPlan names the plan of an error by its hash.
func withPlan(hash string) candor.Option {
	return candor.WithCallInfo(candor.CallInfo{PlanHash: hash})
}

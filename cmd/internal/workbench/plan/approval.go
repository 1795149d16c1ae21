package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// approvalVersion is the version of the records that are written, and the only version that is read.
const approvalVersion = 1

// Limits of a record and of a list of records.
const (
	maxBy        = 128
	maxNote      = 1 << 10
	maxRecord    = 16 << 10
	MaxUses      = 100    // maximum number of changes that an approval may be limited to
	maxApprovals = 10_000 // maximum number of names that List reads in the folder of one workspace
)

// approvalsFolder is the folder of the records in the state folder. Each workspace has a folder below it.
const approvalsFolder = "approvals"

// Approval is the record that a person approved a plan for a workspace.
type Approval struct {
	Version int       `json:"version"`
	Plan    string    `json:"plan"`        // its hash
	Root    string    `json:"root"`        // the digest of the workspace
	By      string    `json:"approved_by"` // the name given on the command line
	At      time.Time `json:"at"`
	Note    string    `json:"note,omitempty"`

	// Expires is when the approval ends; nil means never.
	Expires *time.Time `json:"expires,omitempty"`
	// Uses is the number of changes the approval allows; 0 means any number. Used holds the ids of the changes made.
	Uses int      `json:"uses,omitempty"`
	Used []string `json:"used,omitempty"`

	// Problem describes the damage of a damaged record in a list. Such a record approves nothing.
	Problem string `json:"-"`
}

// Approvals holds the records in the state folder, which the tools of a workspace cannot write to. It is safe for
// concurrent use, also by several processes.
type Approvals struct{ state *os.Root }

// Open returns the approvals below a state folder and creates their folder. The caller remains responsible for closing
// state.
func Open(state *os.Root) (*Approvals, error) {
	a := &Approvals{state: state}
	if err := a.makeFolder(approvalsFolder); err != nil {
		return nil, fmt.Errorf("opening approvals: %w", err)
	}
	return a, nil
}

// RootDigest returns the name of a workspace in the state folder, which does not reveal its path. path must be absolute
// with symbolic links resolved; otherwise two spellings of one folder would be two workspaces.
func RootDigest(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

var digest = lazyregexp.New(`^[0-9a-f]{16,64}$`)

// Approve writes a record and sets its version. It replaces an existing record, even a damaged one. When it returns nil,
// the record survives a crash. A record that [Approvals.Lookup] would not accept is INVALID_INPUT_VALUE.
func (a *Approvals) Approve(record Approval) error {
	record.Version, record.At = approvalVersion, record.At.UTC()
	if err := record.check(record.Root, record.Plan); err != nil {
		return candor.New(kaiza.InvalidInputValue, "The approval is not complete: "+err.Error()+".", candor.WithPlan(record.Plan))
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err == nil {
		err = a.write(record.Root, record.Plan, append(text, '\n'))
	}
	if err != nil {
		return candor.New(kaiza.FileWriteFailed, "The approval could not be recorded.", candor.WithPlan(record.Plan), candor.WithCause(err))
	}
	return nil
}

// Revoke removes a record durably and reports whether it existed.
func (a *Approvals) Revoke(root, plan string) (existed bool, err error) {
	if !digest.MatchString(root) || !fullHash.MatchString(plan) {
		return false, nil
	}
	err = a.state.Remove(recordName(root, plan))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = durable.SyncDir(a.state, recordFolder(root))
	}
	if err != nil {
		return true, candor.New(kaiza.FileWriteFailed, "The approval could not be revoked.", candor.WithPlan(plan), candor.WithCause(err))
	}
	return true, nil
}

// Has reports whether a plan has a record, valid or damaged.
func (a *Approvals) Has(root, plan string) bool {
	if !digest.MatchString(root) || !fullHash.MatchString(plan) {
		return false
	}
	_, err := a.state.Lstat(recordName(root, plan))
	return !errors.Is(err, fs.ErrNotExist)
}

// Lookup returns the record of a plan. The error is PLAN_NOT_APPROVED if the record is missing or damaged;
// details.reason is then "no_record" or "bad_record".
func (a *Approvals) Lookup(root, plan string) (Approval, error) {
	if !digest.MatchString(root) || !fullHash.MatchString(plan) {
		return Approval{}, notApproved(plan, "no_record", "The plan has not been approved.")
	}
	record, err := a.read(root, plan)
	if errors.Is(err, fs.ErrNotExist) {
		return Approval{}, notApproved(plan, "no_record", "The plan has not been approved.")
	}
	if err != nil {
		return Approval{}, notApproved(plan, "bad_record", "The record of the approval is damaged: "+problemOf(err)+".")
	}
	return record, nil
}

// List returns the records of a workspace, oldest first. Damaged records come before all others, with their problem.
func (a *Approvals) List(root string) ([]Approval, error) {
	if !digest.MatchString(root) {
		return nil, nil
	}
	f, err := a.state.Open(recordFolder(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing approvals: %w", err)
	}
	entries, err := f.ReadDir(maxApprovals)
	if closing := f.Close(); closing != nil || err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("listing approvals: %w", cmp.Or(err, closing))
	}
	var list []Approval
	for _, e := range entries {
		plan, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !fullHash.MatchString(plan) {
			continue
		}
		record, err := a.read(root, plan)
		if errors.Is(err, fs.ErrNotExist) {
			continue // revoked in the meantime
		}
		if err != nil {
			record = Approval{Plan: plan, Root: root, Problem: problemOf(err)}
		}
		list = append(list, record)
	}
	slices.SortFunc(list, func(a, b Approval) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Plan, b.Plan)) })
	return list, nil
}

// check returns an error unless the record is valid for this plan in this workspace.
func (r Approval) check(root, plan string) error {
	switch {
	case r.Version != approvalVersion:
		return &mistake{text: "its version is not known"}
	case !fullHash.MatchString(r.Plan) || r.Plan != plan:
		return &mistake{text: "it is about another plan"}
	case !digest.MatchString(r.Root) || r.Root != root:
		return &mistake{text: "it is about another workspace"}
	case strings.TrimSpace(r.By) == "" || len(r.By) > maxBy || strings.ContainsFunc(r.By, hidden):
		return &mistake{text: "approved_by is missing or not plain text"}
	case r.At.IsZero():
		return &mistake{text: "it does not say when"}
	case len(r.Note) > maxNote || strings.ContainsFunc(r.Note, func(c rune) bool { return c != '\n' && hidden(c) }):
		return &mistake{text: "its note is too long, or not plain text"}
	case r.Expires != nil && !r.Expires.After(r.At):
		return &mistake{text: "it ends before it begins"}
	case r.Uses < 0 || r.Uses > MaxUses || len(r.Used) > r.Uses:
		return &mistake{text: fmt.Sprintf("its number of uses is not 1 to %d", MaxUses)}
	default:
		return nil
	}
}

// Ended returns the reason why an approval has ended, as one word for details and as a sentence. Both are empty if the
// approval is still valid.
func (r Approval) Ended(now time.Time) (reason, sentence string) {
	switch {
	case r.Expires != nil && !now.Before(*r.Expires):
		return "expired", "The approval of the plan has expired, at " + r.Expires.UTC().Format(time.RFC3339) + "."
	case r.Uses > 0 && len(r.Used) >= r.Uses:
		return "used_up", fmt.Sprintf("The approval of the plan was for %d changes, and they were made.", r.Uses)
	}
	return "", ""
}

// Use counts the change with this id against an approval that has a limited number of uses. The count is durable when
// Use returns, and each id counts once. The caller must hold the lock of the workspace.
func (a *Approvals) Use(root, plan, id string) error {
	return a.recount(root, plan, func(used []string) []string {
		if slices.Contains(used, id) {
			return used
		}
		return append(used, id)
	})
}

// Release reverts [Approvals.Use] for a change that was not made.
func (a *Approvals) Release(root, plan, id string) error {
	return a.recount(root, plan, func(used []string) []string {
		return slices.DeleteFunc(slices.Clone(used), func(other string) bool { return other == id })
	})
}

func (a *Approvals) recount(root, plan string, count func([]string) []string) error {
	record, err := a.Lookup(root, plan)
	if err != nil || record.Uses == 0 {
		return nil //nolint:nilerr // without a record nothing is counted; approval is checked elsewhere
	}
	used := count(record.Used)
	if len(used) == len(record.Used) {
		return nil
	}
	record.Used = used
	return a.Approve(record)
}

// problemOf describes a damaged record, without file system details.
func problemOf(err error) string {
	if m, ok := errors.AsType[*mistake](err); ok {
		return m.text
	}
	return "it cannot be read"
}

func recordFolder(root string) string     { return path.Join(approvalsFolder, root) }
func recordName(root, plan string) string { return path.Join(approvalsFolder, root, plan+".json") }

// read returns a record. It accepts only a regular file that only its owner can write.
func (a *Approvals) read(root, plan string) (Approval, error) {
	for _, folder := range []string{approvalsFolder, recordFolder(root)} {
		info, err := a.state.Lstat(folder)
		if err != nil {
			return Approval{}, err
		}
		if !info.IsDir() || shared(info) {
			return Approval{}, &mistake{text: "others may write to its folder"}
		}
	}
	name := recordName(root, plan)
	info, err := a.state.Lstat(name)
	if err != nil {
		return Approval{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return Approval{}, &mistake{text: "not a regular file"}
	case shared(info):
		return Approval{}, &mistake{text: "others may write to it"}
	case info.Size() > maxRecord:
		return Approval{}, &mistake{text: "it is too large"}
	}
	text, err := a.state.ReadFile(name)
	if err != nil {
		return Approval{}, err
	}
	return decodeRecord(text, root, plan)
}

func decodeRecord(text []byte, root, plan string) (Approval, error) {
	var record Approval
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&record); err != nil {
		return Approval{}, &mistake{text: "it is not the JSON of a record"}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Approval{}, &mistake{text: "something follows the record"}
	}
	if err := record.check(root, plan); err != nil {
		return Approval{}, err
	}
	return record, nil
}

// shared reports whether other users can write a file. It is always false on systems without file modes.
func shared(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
}

// write replaces a record atomically and returns when it is durable.
func (a *Approvals) write(root, plan string, text []byte) error {
	if err := a.makeFolder(recordFolder(root)); err != nil {
		return err
	}
	return durable.WriteFile(a.state, recordName(root, plan), text, 0o600)
}

// makeFolder creates one folder and syncs its parent, because the content of a folder is lost if its name is.
func (a *Approvals) makeFolder(name string) error {
	err := a.state.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if info, other := a.state.Lstat(name); other != nil || !info.IsDir() {
			return cmp.Or(other, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(a.state, path.Dir(name))
}

package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// Limits of a record, in bytes.
const (
	maxBy     = 128
	maxNote   = 1 << 10
	maxRecord = 16 << 10
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
}

// Approvals holds the records in the state folder, which the tools of a workspace cannot write to. It is safe for
// concurrent use, also by several processes.
type Approvals struct{ state *os.Root }

// Open returns the approvals below a state folder and creates their folder. The caller remains responsible for closing
// state.
func Open(state *os.Root) (*Approvals, error) {
	if err := state.MkdirAll(approvalsFolder, 0o700); err != nil {
		return nil, fmt.Errorf("opening approvals: %w", err)
	}
	return &Approvals{state: state}, nil
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
		return candor.New(kaiza.InvalidInputValue, "The approval is not complete: "+err.Error()+".", withPlan(record.Plan))
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err == nil {
		err = a.state.MkdirAll(recordFolder(record.Root), 0o700)
	}
	if err == nil {
		err = errors.Join(durable.WriteFile(a.state, recordName(record.Root, record.Plan), append(text, '\n'), 0o600),
			durable.SyncDir(a.state, approvalsFolder), durable.SyncDir(a.state, "."))
	}
	if err != nil {
		return candor.New(kaiza.FileWriteFailed, "The approval could not be recorded.", withPlan(record.Plan), candor.WithCause(err))
	}
	return nil
}

// Revoke removes a record durably. It is not an error if the record does not exist.
func (a *Approvals) Revoke(root, plan string) error {
	err := a.state.Remove(recordName(root, plan))
	if err == nil {
		err = durable.SyncDir(a.state, recordFolder(root))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return candor.New(kaiza.FileWriteFailed, "The approval could not be revoked.", withPlan(plan), candor.WithCause(err))
	}
	return nil
}

// Has reports whether a plan has a record, valid or damaged.
func (a *Approvals) Has(root, plan string) bool {
	_, err := a.state.Lstat(recordName(root, plan))
	return !errors.Is(err, fs.ErrNotExist)
}

// Lookup returns the record of a plan. The error is PLAN_NOT_APPROVED if the record is missing or damaged;
// details.reason is then "no_record" or "bad_record".
func (a *Approvals) Lookup(root, plan string) (Approval, error) {
	record, err := a.read(root, plan)
	if errors.Is(err, fs.ErrNotExist) {
		return Approval{}, notApproved(plan, "no_record", "The plan has not been approved.")
	}
	if err != nil {
		return Approval{}, notApproved(plan, "bad_record", "The record of the approval is damaged: "+problemOf(err)+".")
	}
	return record, nil
}

// List returns the records of a workspace, newest first. Of a damaged record only the plan is known.
func (a *Approvals) List(root string) (list []Approval, err error) {
	entries, err := fs.ReadDir(a.state.FS(), recordFolder(root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing approvals: %w", err)
	}
	for _, e := range entries {
		plan, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !fullHash.MatchString(plan) {
			continue
		}
		record, err := a.read(root, plan)
		if err != nil {
			record = Approval{Plan: plan}
		}
		list = append(list, record)
	}
	slices.SortFunc(list, func(a, b Approval) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Plan, b.Plan)) })
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
	case strings.TrimSpace(r.By) == "" || len(r.By) > maxBy || strings.ContainsFunc(r.By, Hidden):
		return &mistake{text: "approved_by is missing or not plain text"}
	case r.At.IsZero():
		return &mistake{text: "it does not say when"}
	case len(r.Note) > maxNote || strings.ContainsFunc(r.Note, func(c rune) bool { return c != '\n' && Hidden(c) }):
		return &mistake{text: "its note is too long, or not plain text"}
	}
	return nil
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
func (a *Approvals) read(root, plan string) (record Approval, err error) {
	name := recordName(root, plan)
	for _, part := range []string{approvalsFolder, recordFolder(root), name} {
		info, err := a.state.Lstat(part)
		switch {
		case err != nil:
			return Approval{}, err
		case info.IsDir() == (part == name) || part == name && !info.Mode().IsRegular():
			return Approval{}, &mistake{text: "not a regular file"}
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
			return Approval{}, &mistake{text: "others may write to it"}
		case part == name && info.Size() > maxRecord:
			return Approval{}, &mistake{text: "it is too large"}
		}
	}
	text, err := a.state.ReadFile(name)
	if err != nil {
		return Approval{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // such as the end of an approval, which other versions may set
	if d.Decode(&record) != nil {
		return Approval{}, &mistake{text: "it is not the JSON of a record"}
	}
	if err := record.check(root, plan); err != nil {
		return Approval{}, err
	}
	return record, nil
}

package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Status is the status in the header of a stored plan.
type Status string

// Statuses in a header. The header is informative: a plan is approved only by an [Approval].
const (
	StatusProposed Status = "PROPOSED"
	StatusApproved Status = "APPROVED"
)

// Stored is a plan as stored in the workspace, with its hash checked.
type Stored struct {
	Hash   string
	Status Status // according to the header
	Body   []byte // canonical, without the header
	Plan   *Plan
	// Approval is the record of the approval, or nil. Only [Store] sets it.
	Approval *Approval
	// Refusal is the reason why the plan is not approved; it is empty if the plan is approved. Only [Store] sets it; a
	// plan that was not loaded by a Store does not have an approval either.
	Refusal string

	reason string // the Refusal as one word, for details; "" if not set by a Store
}

// Approved reports whether header and record agree that a person approved exactly this content.
func (s Stored) Approved() bool {
	return s.Status == StatusApproved && s.Approval != nil && s.Refusal == ""
}

// Enforce returns an error if the plan does not allow a change of path: PLAN_NOT_APPROVED or PLAN_SCOPE_VIOLATION. The
// path is relative to the workspace, clean, and written with slashes.
func (s Stored) Enforce(path string) error {
	if !s.Approved() {
		return notApproved(s.Hash, s.reason, s.Refusal)
	}
	if s.Plan.Covers(path) {
		return nil
	}
	scope := s.Plan.Scope
	details := map[string]any{"path": path, "scope": scope[:min(len(scope), maxShown)], "scopes": len(scope)}
	suggestion := fmt.Sprintf("Change only files that the plan covers, such as %s, or have a plan approved that covers this one.", scope[0])
	if inFolder(strings.Split(path, "/")) {
		suggestion = "Submit plans instead of writing them; no plan covers the folder of the plans."
	}
	if !Unprotected(path) {
		details["reason"] = "version_control"
		suggestion = "Leave the folders of version control alone: what is in them runs programs, and no plan covers them. Ask a person to do it."
	} else if name := unnamed(strings.Split(path, "/"), ""); name != "" {
		details["reason"] = "named_only"
		suggestion = fmt.Sprintf("Have a plan approved whose scope names %q: other programs obey what is in it, so that a wildcard does not cover it.", name)
	}
	return candor.New(kaiza.PlanScopeViolation, fmt.Sprintf("The plan does not cover %q.", path), candor.WithCallInfo(candor.CallInfo{PlanHash: s.Hash, PhaseID: s.Plan.Phase}),
		candor.WithDetails(details), candor.WithSuggestion(suggestion))
}

// maxShown limits the lists in the details of an error, which are limited in size.
const maxShown = 20

// Hash returns the hash of a plan: the SHA-256 of its [Canonical] form in lower-case hex.
func Hash(content []byte) string {
	sum := sha256.Sum256(Canonical(content))
	return hex.EncodeToString(sum[:])
}

// Canonical returns the form of a plan that is hashed and stored: CRLF is converted to LF, and the text ends in exactly
// one LF. Canonical is idempotent and does not modify content.
func Canonical(content []byte) []byte {
	trimmed := bytes.TrimRight(content, "\r\n")
	body := make([]byte, 0, len(trimmed)+1)
	for line := range bytes.Lines(trimmed) {
		if end, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			body = append(append(body, bytes.TrimRight(end, "\r")...), '\n')
			continue
		}
		body = append(body, line...)
	}
	return append(body, '\n')
}

const headerStart = "<!-- KAIZA_PLAN_HASH:"

var (
	header   = lazyregexp.New(`^<!-- KAIZA_PLAN_HASH: ([0-9a-f]{64}) STATUS: (PROPOSED|APPROVED) -->$`)
	fullHash = lazyregexp.New(`^[0-9a-f]{64}$`)
)

// Name returns the name of a plan's file in [Folder].
func Name(hash string) string { return hash + ".md" }

// hashOfName returns the hash in a file name, or "" if it is not the name of a plan.
func hashOfName(name string) string {
	hash, ok := strings.CutSuffix(name, ".md")
	if !ok || !fullHash.MatchString(hash) {
		return ""
	}
	return hash
}

// Render returns a plan as stored on disk: a header on the first line, then the canonical body. The hash covers the body
// only.
func Render(body []byte, hash string, status Status) []byte {
	return append(fmt.Appendf(nil, "%s %s STATUS: %s -->\n", headerStart, hash, status), Canonical(body)...)
}

// Read parses the stored form of a plan. name is the name of the file, without a folder. Errors are:
//
//   - PLAN_NOT_FOUND: the name is not that of a plan;
//   - PLAN_NOT_APPROVED: the header lacks a hash of 64 digits or a valid status, or the plan does not pass [Parse], so that
//     it cannot have been approved; details.reason gives the cause;
//   - PLAN_ENFORCEMENT_FAILED: the hashes of name, header and content are not the same; details.differs lists those that
//     differ.
//
// Read also returns plans that are only proposed; [Stored.Enforce] refuses them.
func Read(file []byte, name string) (Stored, error) {
	named := hashOfName(name)
	if named == "" {
		return Stored{}, candor.New(kaiza.PlanNotFound, "The name is not that of a plan.", candor.WithDetails(map[string]any{"reason": "name"}))
	}
	if len(file) > MaxFile {
		return Stored{}, notApproved(named, "size", "The file is larger than a plan can be.")
	}
	first, body, _ := bytes.Cut(file, []byte("\n"))
	found := header.Get().FindSubmatch(bytes.TrimRight(first, "\r"))
	if found == nil {
		return Stored{}, notApproved(named, "header", "The plan has no header with a hash of 64 digits and a status that is known.")
	}
	headed, hashed := string(found[1]), Hash(body)
	if headed != named || hashed != named {
		return Stored{}, changed(named, headed, hashed)
	}
	p, issues := Parse(body)
	if p == nil {
		return Stored{}, notApproved(named, "lint", "The plan has errors, so it cannot have been approved.", issues...)
	}
	return Stored{Hash: named, Status: Status(found[2]), Body: Canonical(body), Plan: p}, nil
}

// notApproved returns PLAN_NOT_APPROVED with the reason in details.
func notApproved(hash, reason, message string, issues ...Issue) *candor.Error {
	details := map[string]any{"reason": reason}
	if len(issues) > 0 {
		details["issues"] = issues[:min(len(issues), maxShown)]
	}
	e := candor.New(kaiza.PlanNotApproved, message, withPlan(hash), candor.WithDetails(details))
	if slices.Contains(approvable, reason) {
		e = e.With(candor.WithSuggestion("Ask a person to review and approve the plan: candor workbench approve " + cut(hash, 64)))
	}
	return e
}

// approvable lists the reasons that an approval resolves.
var approvable = []string{"", "no_record", "bad_record", "header_without_record", "unmarked"}

// changed returns PLAN_ENFORCEMENT_FAILED. If two of the three hashes agree, the third is reported as different.
func changed(named, headed, hashed string) *candor.Error {
	differs := []string{"file_name", "header", "content"}
	switch {
	case named == headed:
		differs = differs[2:]
	case named == hashed:
		differs = differs[1:2]
	case headed == hashed:
		differs = differs[:1]
	}
	return candor.New(kaiza.PlanEnforcementFailed, "", withPlan(named), candor.WithDetails(map[string]any{
		"reason": "hash", "differs": differs, "file_name": named, "header": headed, "content": hashed,
	}))
}

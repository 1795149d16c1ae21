package plan_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// memory is a folder of plans in memory. A nil file cannot be read, like a link out of the workspace.
type memory map[string][]byte

func (m memory) ReadPlan(name string) ([]byte, error) {
	file, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	if file == nil {
		return nil, candor.New(kaiza.OutsideWorkspace, "")
	}
	return file, nil
}

func (m memory) WritePlan(name string, content []byte) error {
	m[name] = content
	return nil
}

func (m memory) ListPlans() ([]string, error) { return slices.Collect(maps.Keys(m)), nil }

// desk returns a store of one workspace with its files and approvals.
func desk(t *testing.T) (*plan.Store, memory, *plan.Approvals) {
	t.Helper()
	a, _ := state(t)
	files := memory{}
	return plan.NewStore(files, a, here), files, a
}

func submit(t *testing.T, s *plan.Store, content string) string {
	t.Helper()
	hash, _, err := s.Submit([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func approve(t *testing.T, s *plan.Store, hash string, at time.Time) {
	t.Helper()
	stored, err := s.Approve(hash, "ann", "", at)
	if err != nil {
		t.Fatal(err)
	}
	if !stored.Approved() {
		t.Fatalf("not approved: %s", stored.Refusal)
	}
}

// enforce returns the error for a change of path under a plan.
func enforce(s *plan.Store, hash, path string) error {
	stored, err := s.Load(hash)
	if err != nil {
		return err
	}
	return stored.Enforce(path)
}

func TestApprovedPlanAllowsWhatItCovers(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	if e := errorOf(t, enforce(s, hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "no_record" || !strings.Contains(e.Suggestion(), hash) {
		t.Errorf("told as %v, %s, %s", e, e.Details(), e.Suggestion())
	}
	approve(t, s, hash, noon)
	if !bytes.HasPrefix(files[plan.Name(hash)], []byte("<!-- KAIZA_PLAN_HASH: "+hash+" STATUS: APPROVED -->\n---\n")) {
		t.Errorf("the file is %s", files[plan.Name(hash)])
	}
	for _, path := range []string{"src/a", "src/b/c", "README.md"} {
		if err := enforce(s, hash, path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	e := errorOf(t, enforce(s, hash, "source/a"), kaiza.PlanScopeViolation)
	if !slices.Equal(detail[[]string](t, e, "scope"), []string{"src/**", "README.md"}) || !strings.Contains(e.Suggestion(), "src/**") {
		t.Errorf("told as %s, %s", e.Details(), e.Suggestion())
	}
	if e.CallInfo().PlanHash != hash || e.CallInfo().PhaseID != "PHASE_1" {
		t.Errorf("about %+v", e.CallInfo())
	}
	refused(t, enforce(s, hash, "docs/plans/x.md"), kaiza.PlanScopeViolation)
	refused(t, enforce(s, plan.Hash([]byte("other")), "src/a"), kaiza.PlanNotFound)
}

func TestRevokedPlanAllowsNothing(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	approved := files[plan.Name(hash)]
	if stored, err := s.Revoke(hash[:8]); err != nil || stored.Approved() || stored.Status != plan.StatusProposed {
		t.Fatalf("%+v, %v", stored, err)
	}
	refused(t, enforce(s, hash, "src/a"), kaiza.PlanNotApproved)
	files[plan.Name(hash)] = approved // the old file is restored
	if e := errorOf(t, enforce(s, hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "header_without_record" {
		t.Errorf("details %s", e.Details())
	}
}

func TestPlanIsHashedOnEveryUse(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	files[plan.Name(hash)] = bytes.Replace(files[plan.Name(hash)], []byte("src/**"), []byte("**/**"), 1)
	refused(t, enforce(s, hash, "src/a"), kaiza.PlanEnforcementFailed)
	_, err := s.Load(hash)
	refused(t, err, kaiza.PlanEnforcementFailed)
	_, err = s.Approve(hash, "ann", "", noon)
	refused(t, err, kaiza.PlanEnforcementFailed)

	// Submitting the content again restores the file, and the approval still applies to that content.
	if again, existed, err := s.Submit([]byte(greeting)); again != hash || existed || err != nil {
		t.Fatal(again, existed, err)
	}
	if err := enforce(s, hash, "src/a"); err != nil {
		t.Error(err)
	}
}

func TestForgedHeaderIsNotAnApproval(t *testing.T) {
	s, files, a := desk(t)
	hash := plan.Hash([]byte(greeting))
	files[plan.Name(hash)] = plan.Render([]byte(greeting), hash, plan.StatusApproved)
	if err := a.Approve(plan.Approval{Plan: hash, Root: there, By: "ann", At: noon}); err != nil { // approved in another workspace
		t.Fatal(err)
	}
	if e := errorOf(t, enforce(s, hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "header_without_record" {
		t.Errorf("details %s", e.Details())
	}
	list, err := s.List()
	if err != nil || list.Plans[0].Status != plan.StatusProposed || list.Plans[0].Problem == "" {
		t.Errorf("listed as %+v, %v", list, err)
	}
}

func TestRecordWithoutHeaderIsCompletedByApprovingAgain(t *testing.T) {
	s, _, a := desk(t)
	hash := submit(t, s, greeting)
	if err := a.Approve(record(hash)); err != nil { // then a power failure
		t.Fatal(err)
	}
	if e := errorOf(t, enforce(s, hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "unmarked" {
		t.Errorf("details %s", e.Details())
	}
	approve(t, s, hash, noon)
}

func TestPlanWithErrorsIsNotStored(t *testing.T) {
	s, files, _ := desk(t)
	_, _, err := s.Submit(with("titel: x\nscope:\n  - ../a"))
	e := errorOf(t, err, kaiza.InvalidInputValue)
	if issues := detail[[]plan.Issue](t, e, "issues"); len(issues) != 3 || issues[1].Line != 2 || issues[1].Rule != "unknown-key" {
		t.Errorf("details %s", e.Details())
	}
	_, _, err = s.Submit([]byte(greeting + strings.Repeat("\x01\n", 5000)))
	if issues := detail[[]plan.Issue](t, errorOf(t, err, kaiza.InvalidInputValue), "issues"); len(issues) == 0 {
		t.Error("many issues leave none")
	}
	if len(files) > 0 {
		t.Errorf("stored: %d", len(files))
	}
}

func TestPlanIsFoundByTheBeginningOfItsHash(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	for _, name := range []string{hash, hash[:8], hash[:63], strings.ToUpper(hash)} {
		if stored, err := s.Load(name); err != nil || stored.Hash != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", hash[:7], "../" + hash, hash + "0", "zzzzzzzz", hash[:8] + "*"} {
		_, err := s.Load(name)
		refused(t, err, kaiza.InvalidInputFormat)
	}
	_, err := s.Load("00000000")
	refused(t, err, kaiza.PlanNotFound)
	files[plan.Name(hash[:60]+"0000")] = []byte("a twin")
	_, err = s.Load(hash[:8])
	refused(t, err, kaiza.InvalidInputValue)
}

func TestListReportsProblemsOfEachPlan(t *testing.T) {
	s, files, _ := desk(t)
	sound := submit(t, s, greeting)
	approve(t, s, sound, noon)
	files["README.md"], files["notes"], files["x.md"] = []byte("junk"), []byte("junk"), nil
	name := func(digit string) string { return plan.Name(strings.Repeat(digit, 64)) }
	files[name("0")] = bytes.Repeat([]byte("huge"), 1<<20)
	files[name("1")] = nil
	files[name("2")] = []byte("no header")
	files[name("3")] = plan.Render([]byte(greeting), sound, plan.StatusApproved)
	list, err := s.List()
	if err != nil || len(list.Plans) != 5 || list.More != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, p := range list.Plans {
		if p.Hash == sound {
			if p.Status != plan.StatusApproved || p.Problem != "" || p.Title != "Add greeting" || len(p.Scope) != 2 {
				t.Errorf("the sound one is %+v", p)
			}
		} else if p.Status != plan.StatusProposed || p.Problem == "" {
			t.Errorf("a broken one is %+v", p)
		}
	}
}

package plan_test

import (
	"bytes"
	"errors"
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
	stored, err := s.Approve(hash, "ann", "", at, plan.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !stored.Approved() {
		t.Fatalf("not approved: %s", stored.Refusal)
	}
}

func TestApprovedPlanAllowsWhatItCovers(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	if e := told(t, s.Enforce(hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "no_record" || !strings.Contains(e.Suggestion(), hash) {
		t.Errorf("told as %v, %s, %s", e, e.Details(), e.Suggestion())
	}
	approve(t, s, hash, noon)
	if !bytes.HasPrefix(files[plan.Name(hash)], []byte("<!-- KAIZA_PLAN_HASH: "+hash+" STATUS: APPROVED -->\n---\n")) {
		t.Errorf("the file is %s", files[plan.Name(hash)])
	}
	for _, path := range []string{"src/a", "src/b/c", "README.md"} {
		if err := s.Enforce(hash, path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	e := told(t, s.Enforce(hash, "source/a"), kaiza.PlanScopeViolation)
	if detail[string](t, e, "nearest") != "src/**" || !slices.Equal(detail[[]string](t, e, "scope"), []string{"src/**", "README.md"}) || !strings.Contains(e.Suggestion(), "src/**") {
		t.Errorf("told as %s, %s", e.Details(), e.Suggestion())
	}
	if e.CallInfo().PlanHash != hash || e.CallInfo().PhaseID != "PHASE_1" {
		t.Errorf("about %+v", e.CallInfo())
	}
	refused(t, s.Enforce(hash, "docs/plans/x.md"), kaiza.PlanScopeViolation)
	refused(t, s.Enforce(plan.Hash([]byte("other")), "src/a"), kaiza.PlanNotFound)
}

func TestRevokedPlanAllowsNothing(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	approved := files[plan.Name(hash)]
	if stored, err := s.Revoke(hash[:8]); err != nil || stored.Approved() || stored.Status != plan.StatusProposed {
		t.Fatalf("%+v, %v", stored, err)
	}
	refused(t, s.Enforce(hash, "src/a"), kaiza.PlanNotApproved)
	files[plan.Name(hash)] = approved // the old file is restored
	if e := told(t, s.Enforce(hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "header_without_record" {
		t.Errorf("details %s", e.Details())
	}
}

// TestMissingPlanIsReportedAmongOthers checks that a prefix is ambiguous if it matches a file and the approval of a plan
// whose file is missing.
func TestMissingPlanIsReportedAmongOthers(t *testing.T) {
	s, files, a := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	gone := hash[:60] + "1111"
	if err := a.Approve(record(gone)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Revoke(hash[:8])
	if e := told(t, err, kaiza.InvalidInputValue); len(detail[[]string](t, e, "plans")) != 2 {
		t.Errorf("details %s", e.Details())
	}
	for _, name := range []string{hash, hash[:61], gone, gone[:61], strings.ToUpper(gone)} {
		if full, err := s.Approvable(name); err != nil || full[:60] != hash[:60] || !strings.HasPrefix(full, strings.ToLower(name)) {
			t.Errorf("%s means %s, %v", name, full, err)
		}
	}
	if stored, err := s.Load(hash[:8]); err != nil || stored.Hash != hash { // Load considers only existing files
		t.Errorf("%+v, %v", stored, err)
	}
	delete(files, plan.Name(hash))
	_, err = s.Approvable(hash[:8])
	refused(t, err, kaiza.InvalidInputValue)
	if _, err := s.Revoke(gone); err != nil {
		t.Fatal(err)
	}
	if full, err := s.Approvable(hash[:8]); err != nil || full != hash {
		t.Errorf("%s, %v", full, err)
	}
}

func TestPlanIsHashedOnEveryUse(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	files[plan.Name(hash)] = bytes.Replace(files[plan.Name(hash)], []byte("src/**"), []byte("**/**"), 1)
	refused(t, s.Enforce(hash, "src/a"), kaiza.PlanEnforcementFailed)
	_, err := s.Load(hash)
	refused(t, err, kaiza.PlanEnforcementFailed)
	_, err = s.Approve(hash, "ann", "", noon, plan.Limits{})
	refused(t, err, kaiza.PlanEnforcementFailed)

	// Submitting the content again restores the file, and the approval still applies to that content.
	if again, existed, err := s.Submit([]byte(greeting)); again != hash || existed || err != nil {
		t.Fatal(again, existed, err)
	}
	if err := s.Enforce(hash, "src/a"); err != nil {
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
	if e := told(t, s.Enforce(hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "header_without_record" {
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
	if e := told(t, s.Enforce(hash, "src/a"), kaiza.PlanNotApproved); detail[string](t, e, "reason") != "unmarked" {
		t.Errorf("details %s", e.Details())
	}
	approve(t, s, hash, noon)
}

func TestSubmittingTwiceChangesNothing(t *testing.T) {
	s, files, _ := desk(t)
	hash := submit(t, s, greeting)
	approve(t, s, hash, noon)
	before := string(files[plan.Name(hash)])
	again, existed, err := s.Submit([]byte(strings.ReplaceAll(greeting, "\n", "\r\n")))
	if again != hash || !existed || err != nil || len(files) != 1 || string(files[plan.Name(hash)]) != before {
		t.Errorf("%s, %v, %v, %d files", again, existed, err, len(files))
	}
}

func TestPlanWithErrorsIsNotStored(t *testing.T) {
	s, files, _ := desk(t)
	_, _, err := s.Submit(with("titel: x\nscope:\n  - ../a"))
	e := told(t, err, kaiza.InvalidInputValue)
	if issues := detail[[]plan.Issue](t, e, "issues"); len(issues) != 3 || issues[1].Line != 2 || issues[1].Rule != "unknown-key" {
		t.Errorf("details %s", e.Details())
	}
	_, _, err = s.Submit([]byte(greeting + strings.Repeat("\x01\n", 5000)))
	if issues := detail[[]plan.Issue](t, told(t, err, kaiza.InvalidInputValue), "issues"); len(issues) == 0 {
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
	if err != nil || list.Junk != 3 || len(list.Plans) != 5 || list.More != 0 {
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

func TestListIsBounded(t *testing.T) {
	s, files, _ := desk(t)
	for i := range 5000 {
		files[fmt.Sprintf("%064x.md", i)] = []byte("x")
	}
	if list, err := s.List(); err != nil || len(list.Plans) != 1000 || list.More != 4000 {
		t.Errorf("%d plans, %d more, %v", len(list.Plans), list.More, err)
	}
	large := bytes.Repeat([]byte("x"), plan.MaxFile)
	for i := range 500 {
		files[fmt.Sprintf("%064x.md", i)] = large
	}
	if list, err := s.List(); err != nil || len(list.Plans) > 100 || len(list.Plans)+list.More != 5000 {
		t.Errorf("%d plans, %d more, %v", len(list.Plans), list.More, err)
	}
}

// broken is a folder whose operations fail.
type broken struct{ err error }

func (b broken) ReadPlan(string) ([]byte, error) { return nil, b.err }
func (b broken) WritePlan(string, []byte) error  { return b.err }
func (b broken) ListPlans() ([]string, error)    { return nil, b.err }

func TestFolderThatFailsKeepsItsCode(t *testing.T) {
	a, _ := state(t)
	hash := plan.Hash([]byte(greeting))
	s := plan.NewStore(broken{errors.New("disk on fire")}, a, here)
	refused(t, s.Enforce(hash, "src/a"), kaiza.FileReadFailed)
	_, err := s.List()
	refused(t, err, kaiza.FileReadFailed)
	s = plan.NewStore(broken{candor.New(kaiza.OutsideWorkspace, "")}, a, here)
	refused(t, s.Enforce(hash, "src/a"), kaiza.OutsideWorkspace)
	_, _, err = s.Submit([]byte(greeting))
	refused(t, err, kaiza.OutsideWorkspace)

	s = plan.NewStore(broken{candor.New(kaiza.PathNotFound, "")}, a, here)
	if list, err := s.List(); err != nil || len(list.Plans) > 0 {
		t.Errorf("no folder: %+v, %v", list, err)
	}
	refused(t, s.Enforce(hash, "src/a"), kaiza.PlanNotFound)
}

func TestPreviousIsTheLastApprovedPlan(t *testing.T) {
	s, files, _ := desk(t)
	first, second := submit(t, s, greeting), submit(t, s, greeting+"More.\n")
	proposed := submit(t, s, greeting+"Even more.\n")
	if p, err := s.Previous(proposed); p != nil || err != nil {
		t.Fatal(p, err)
	}
	approve(t, s, second, noon)
	approve(t, s, first, noon.Add(time.Hour))
	for _, c := range [][2]string{{proposed, first}, {first, second}} {
		if p, err := s.Previous(c[0]); err != nil || p == nil || p.Hash != c[1] {
			t.Errorf("before %.8s: %+v, %v", c[0], p, err)
		}
	}
	delete(files, plan.Name(first))
	if p, err := s.Previous(proposed); err != nil || p == nil || p.Hash != second {
		t.Errorf("%+v, %v", p, err)
	}
}

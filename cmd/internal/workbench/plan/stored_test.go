package plan_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// refused checks that a call was refused with this code.
func refused(t *testing.T, err error, code candor.Code) {
	t.Helper()
	_ = errorOf(t, err, code)
}

// errorOf returns the error of a call that must be refused with this code. It fails the test if the error is inconsistent.
func errorOf(t *testing.T, err error, code candor.Code) *candor.Error {
	t.Helper()
	var e *candor.Error
	if !errors.As(err, &e) || e.Code() != code {
		t.Fatalf("want %s, got %v", code, err)
	}
	if err := e.Validate(); err != nil {
		t.Errorf("%s contradicts itself: %v", code, err)
	}
	return e
}

// detail decodes one member of the details.
func detail[T any](t *testing.T, e *candor.Error, name string) (v T) {
	t.Helper()
	if err := e.Details().Get(name).Decode(&v); err != nil {
		t.Errorf("details %s have no %s: %v", e.Details(), name, err)
	}
	return v
}

func TestRenderedPlanReadsBack(t *testing.T) {
	hash := plan.Hash([]byte(greeting))
	for _, status := range []plan.Status{plan.StatusProposed, plan.StatusApproved} {
		file := plan.Render([]byte(strings.ReplaceAll(greeting, "\n", "\r\n")), hash, status)
		if want := "<!-- KAIZA_PLAN_HASH: " + hash + " STATUS: " + string(status) + " -->\n" + greeting; string(file) != want {
			t.Fatalf("rendered as %q", file)
		}
		for _, file := range [][]byte{file, bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n"))} { // some tools change line ends on checkout
			s, err := plan.Read(file, plan.Name(hash))
			if err != nil {
				t.Fatal(err)
			}
			if s.Hash != hash || s.Status != status || string(s.Body) != greeting || s.Plan.Title != "Add greeting" {
				t.Errorf("read as %+v", s)
			}
			if s.Approved() {
				t.Error("a header alone approves a plan")
			}
			refused(t, s.Enforce("src/a"), kaiza.PlanNotApproved)
		}
	}
}

func TestHeaderWithoutHashOrStatusIsNotApproved(t *testing.T) {
	hash := plan.Hash([]byte(greeting))
	for _, first := range []string{
		"", "# Title", " <!-- KAIZA_PLAN_HASH: " + hash + " STATUS: APPROVED -->",
		"<!-- KAIZA_PLAN_HASH: -->", "<!-- KAIZA_PLAN_HASH: " + hash[:63] + " STATUS: APPROVED -->",
		"<!-- KAIZA_PLAN_HASH: " + strings.ToUpper(hash) + " STATUS: APPROVED -->", "<!-- KAIZA_PLAN_HASH: " + hash + "0 STATUS: APPROVED -->",
		"<!-- KAIZA_PLAN_HASH: " + hash + " -->", "<!-- KAIZA_PLAN_HASH: " + hash + " STATUS: DRAFT -->",
		"<!-- KAIZA_PLAN_HASH: " + hash + " STATUS: APPROVED --> x",
	} {
		_, err := plan.Read([]byte(first+"\n"+greeting), plan.Name(hash))
		if e := errorOf(t, err, kaiza.PlanNotApproved); detail[string](t, e, "reason") != "header" {
			t.Errorf("%q: %s", first, e.Details())
		}
	}
}

func TestChangedPlanSaysWhichHashDiffers(t *testing.T) {
	body, hash, other := []byte(greeting), plan.Hash([]byte(greeting)), plan.Hash([]byte("other"))
	third := plan.Hash([]byte("third"))
	for _, c := range []struct {
		file    []byte
		name    string
		differs []string
	}{
		{plan.Render(append(body[:len(body):len(body)], "more\n"...), hash, plan.StatusApproved), plan.Name(hash), []string{"content"}},
		{plan.Render(body, other, plan.StatusApproved), plan.Name(hash), []string{"header"}},
		{plan.Render(body, hash, plan.StatusApproved), plan.Name(other), []string{"file_name"}},
		{plan.Render(body, other, plan.StatusApproved), plan.Name(third), []string{"file_name", "header", "content"}},
	} {
		_, err := plan.Read(c.file, c.name)
		e := errorOf(t, err, kaiza.PlanEnforcementFailed)
		if got := detail[[]string](t, e, "differs"); !slices.Equal(got, c.differs) {
			t.Errorf("differs %v, want %v", got, c.differs)
		}
		if e.CallInfo().PlanHash+".md" != c.name {
			t.Errorf("the error is about plan %q", e.CallInfo().PlanHash)
		}
	}
}

func TestFileThatCannotBeAPlanIsRefused(t *testing.T) {
	hash := plan.Hash([]byte(greeting))
	for _, name := range []string{"", "README.md", hash, hash + ".MD", strings.ToUpper(hash) + ".md", "../" + hash + ".md", hash[:63] + ".md"} {
		_, err := plan.Read(plan.Render([]byte(greeting), hash, plan.StatusApproved), name)
		refused(t, err, kaiza.PlanNotFound)
	}
	junk := []byte("no plan\n")
	_, err := plan.Read(plan.Render(junk, plan.Hash(junk), plan.StatusApproved), plan.Name(plan.Hash(junk)))
	if e := errorOf(t, err, kaiza.PlanNotApproved); detail[string](t, e, "reason") != "lint" {
		t.Errorf("details %s", e.Details())
	}
	_, err = plan.Read(bytes.Repeat([]byte("x"), plan.MaxFile+1), plan.Name(hash))
	if e := errorOf(t, err, kaiza.PlanNotApproved); detail[string](t, e, "reason") != "size" {
		t.Errorf("details %s", e.Details())
	}
}

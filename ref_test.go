package candor_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// TestEveryErrorHasARefToWrite checks that every error has a ref, as the schema requires, and that it is the same each time the
// error is written.
func TestEveryErrorHasARefToWrite(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	base := func(options ...candor.Option) *candor.Error {
		return candor.New(candor.CodeTimeout, "No answer.", append([]candor.Option{candor.WithTool("t"), candor.WithTime(at), candor.WithDetails(map[string]int{"a": 1})}, options...)...)
	}
	form := regexp.MustCompile(`^c-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for name, e := range map[string]*candor.Error{
		"base": base(), "message": base(candor.WithMessage("No answer")), "tool": base(candor.WithTool("u")), "time": base(candor.WithTime(at.Add(time.Second))),
		"no time": base(candor.WithTime(time.Time{})), "details": base(candor.WithDetails(nil)), "code": candor.New(candor.CodeCancelled, ""), "zero": {}, "nil": nil,
	} {
		ref := e.WireRef()
		if !form.MatchString(ref) || e.WireRef() != ref || e.Ref() != "" {
			t.Errorf("%s: %q, then %q; stamped %q", name, ref, e.WireRef(), e.Ref())
		}
		if other, taken := seen[ref]; taken && name != "zero" && name != "nil" {
			t.Errorf("%s and %s share %s", name, other, ref)
		}
		seen[ref] = name
	}
	if base().WireRef() != base(candor.WithRetry(candor.NoRetry())).With().WireRef() {
		t.Error("what does not count changes the ref")
	}
	if got := base(candor.WithRef("r-1")); got.WireRef() != "r-1" || !strings.Contains(marshal(t, got), `"ref":"r-1"`) {
		t.Error("a ref that was given is not written")
	}
}

// TestDerivedRefDoesNotAllocate checks that writing does not allocate, with or without a ref.
func TestDerivedRefDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 4096)
	for _, e := range []*candor.Error{candor.New(candor.CodeTimeout, ""), full(), candor.New(candor.CodeTimeout, "", candor.WithRef("r"))} {
		if n := testing.AllocsPerRun(100, func() { dst = e.AppendJSON(dst[:0], candor.JSONOptions{}) }); n != 0 {
			t.Errorf("%v: %v allocations", e, n)
		}
	}
}

package candor_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/codes/playwright"
)

// options returns every option, with random content.
func options(m *maker) []candor.Option {
	all := []candor.Option{
		{}, candor.WithMessage(m.text()), candor.WithRetry(advice[m.r.IntN(3)]), candor.WithSuggestion(m.text()), candor.WithDetails(m.value(2)),
		candor.WithIssues(candor.Issue{Path: m.text()}), candor.WithCause(errors.New(m.text())), candor.WithCauseText(candor.Cause{Message: m.text()}),
		candor.WithOrigin(candor.PartyClient, true), candor.WithOrigin("nobody", true), candor.WithRef(m.text()), candor.WithTime(past), candor.WithStack(m.text()),
		candor.WithTool(m.text()), candor.WithCallInfo(candor.CallInfo{Tool: m.text(), PlanHash: m.text()}), candor.WithSession(m.text(), m.text(), m.text()),
		candor.WithInvariant(m.text()), candor.WithPhase(m.text()), candor.WithPlan(m.text()), candor.Otherwise(candor.CodeTimeout), candor.WithCause(nil),
	}
	m.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:m.r.IntN(len(all))]
}

// TestWithNeverChangesItsReceiver checks that With returns a copy and leaves the original unchanged.
func TestWithNeverChangesItsReceiver(t *testing.T) {
	m := &maker{r: rand.New(rand.NewPCG(7, 8))}
	for range rounds(80) {
		e := candor.New(candor.CodeInternalError, m.text(), options(m)...)
		was, wire := fmt.Sprintf("%+v %v", e, e.Validate()), marshal(t, e)
		second := e.With(options(m)...)
		secondWire := marshal(t, second)
		third := second.With(options(m)...)
		if third == second || second == e {
			t.Fatal("With returned its receiver")
		}
		if fmt.Sprintf("%+v %v", e, e.Validate()) != was || marshal(t, e) != wire || marshal(t, second) != secondWire {
			t.Fatalf("an error was changed through its copy:\n%s\n%s", wire, marshal(t, e))
		}
	}
}

func TestOptionsAreReadOnly(t *testing.T) {
	shared := make([]candor.Option, 1, 4)
	shared[0] = candor.WithTool("mine")
	a := candor.ToolFailure(candor.CodeTimeout, "t", "", shared...)
	b := candor.NotRetryable(candor.CodeTimeout, "", shared...)
	if a.CallInfo().Tool != "mine" || b.CallInfo().Tool != "mine" || !reflect.DeepEqual(shared[:4][1], candor.Option{}) {
		t.Error("a constructor wrote into the caller's options")
	}
}

// TestErrorsAreSharedBetweenGoroutines reads and copies an error in many goroutines, for the race detector.
func TestErrorsAreSharedBetweenGoroutines(t *testing.T) {
	e := full()
	option := candor.WithDetails(map[string]any{"shared": []int{1}})
	want := marshal(t, e)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				c := e.With(option, candor.WithTool(string(rune('a'+i))))
				if got := string(e.AppendJSON(nil, candor.JSONOptions{})); got != want || c.Details() == e.Details() {
					t.Errorf("%s", got)
				}
				_, _, _ = e.Error(), e.LogValue(), e.Validate()
				candor.LookupSymbol("TIMEOUT")
				candor.CodeOf(e)
				_ = errors.Is(e, io.EOF)
			}
		})
	}
	wg.Wait()
}

func TestConstructorsSayWhatTheyAreCalled(t *testing.T) {
	cause := errors.New("boom")
	for name, test := range map[string]struct {
		e      *candor.Error
		code   candor.Code
		retry  candor.Retry
		origin candor.Party
		where  candor.CallInfo
	}{
		"New":                  {candor.New(candor.CodeTimeout, ""), candor.CodeTimeout, candor.CodeTimeout.Retry(), candor.PartyTool, candor.CallInfo{}},
		"NotRetryable":         {candor.NotRetryable(candor.CodeTimeout, ""), candor.CodeTimeout, candor.NoRetry(), candor.PartyTool, candor.CallInfo{}},
		"RetryableImmediately": {candor.RetryableImmediately(candor.CodeTimeout, ""), candor.CodeTimeout, candor.RetryNow(), candor.PartyTool, candor.CallInfo{}},
		"RetryableAfter":       {candor.RetryableAfter(candor.CodeTimeout, 3*time.Second, ""), candor.CodeTimeout, candor.RetryIn(3 * time.Second), candor.PartyTool, candor.CallInfo{}},
		"ToolFailure":          {candor.ToolFailure(candor.CodeTimeout, "t", ""), candor.CodeTimeout, candor.CodeTimeout.Retry(), candor.PartyTool, candor.CallInfo{Tool: "t"}},
		"InvariantViolation":   {candor.InvariantViolation("I", ""), kaiza.InvariantViolation, candor.NoRetry(), candor.PartyServer, candor.CallInfo{InvariantID: "I"}},
		"StartupFailure":       {candor.StartupFailure(kaiza.BootstrapFailure, ""), kaiza.BootstrapFailure, kaiza.BootstrapFailure.Retry(), candor.PartyServer, candor.CallInfo{Tool: "startup"}},
		"an option wins":       {candor.NotRetryable(candor.CodeTimeout, "", candor.WithRetry(candor.RetryNow())), candor.CodeTimeout, candor.RetryNow(), candor.PartyTool, candor.CallInfo{}},
	} {
		e := test.e
		if e.Code() != test.code || e.Retry() != test.retry || e.Origin() != (candor.Origin{By: test.origin}) || e.CallInfo() != test.where || e.Class() != test.code.Class() {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Message() != test.code.Sentence() || e.With(candor.WithMessage("mine")).Message() != "mine" {
			t.Errorf("%s: message %q", name, e.Message())
		}
		if c := e.With(candor.WithCause(cause)); !errors.Is(c, cause) || c.Cause().Message != "boom" {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	e, err := candor.Numbered(2100, "The page is gone.", candor.WithTool("open"))
	if err != nil || e.Code() != playwright.Nav || e.Message() != "The page is gone." || e.CallInfo().Tool != "open" {
		t.Errorf("Numbered: %+v, %v", e, err)
	}
}

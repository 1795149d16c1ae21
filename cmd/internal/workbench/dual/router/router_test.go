package router

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

func TestScoreFollowsFromMeasures(t *testing.T) {
	calls := func(n, failed int, latency time.Duration) (all []Call) {
		for i := range n {
			all = append(all, Call{Failed: i < failed, Latency: latency})
		}
		return all
	}
	fresh := ScoreOf("fresh", 0, nil)
	good := ScoreOf("good", 0, calls(50, 0, 10*time.Millisecond))
	slow := ScoreOf("slow", 0, calls(50, 0, 3*time.Second))
	dear := ScoreOf("dear", 4, calls(50, 0, 10*time.Millisecond))
	flaky := ScoreOf("flaky", 0, calls(50, 25, 10*time.Millisecond))
	if good.Value <= slow.Value || good.Value <= dear.Value || good.Value <= flaky.Value || good.Value <= fresh.Value {
		t.Error(good, slow, dear, flaky, fresh)
	}
	if flaky.Failures != 25 || flaky.Calls != 50 || good.LatencyMs != 10 || good.P95Ms != 10 {
		t.Error(flaky, good)
	}
	ranking := []Score{fresh, flaky, slow, dear, good}
	Rank(ranking)
	if ranking[0].Upstream != "good" || ranking[3].Upstream != "flaky" {
		t.Error(ranking)
	}
}

// fake returns preset answers.
type fake struct {
	err   error
	calls int
}

func (f *fake) CallTool(context.Context, string, json.RawMessage) (Answer, error) {
	f.calls++
	return Answer{Result: json.RawMessage(`{}`)}, f.err
}
func (f *fake) Repeatable(string) bool { return false }
func (f *fake) Alive() bool            { return true }
func (f *fake) Close() error           { return nil }

func TestCallFallsBackOnlyWhereThatIsAllowed(t *testing.T) {
	busy := candor.New(candor.CodeUpstreamUnavailable, "", candor.WithRetry(candor.RetryIn(time.Second)))
	for _, row := range []struct {
		name     string
		first    error
		dial     error
		fallback bool
	}{
		{"an upstream that is away", busy, nil, true},
		{"one that cannot be started", nil, errors.New("no such file"), true},
		{"arguments that are wrong", candor.New(candor.CodeInvalidArguments, ""), nil, false},
		{"a timeout after which the call may have had its effect", candor.New(candor.CodeUpstreamTimeout, "", candor.WithRetry(candor.NoRetry())), nil, false},
	} {
		first, second := &fake{err: row.first}, &fake{}
		measured := 0
		r := New([]Upstream{
			{Name: "first", Dial: func(context.Context) (Conn, error) { return first, row.dial }},
			{Name: "second", Dial: func(context.Context) (Conn, error) { return second, nil }},
		}, func(context.Context, string, Attempt) { measured++ })
		result, attempts, err := r.Call(context.Background(), []string{"first", "second"}, "t", nil)
		if row.fallback != (second.calls == 1) || row.fallback != (err == nil) || row.fallback && result.Upstream != "second" {
			t.Errorf("%s: %+v, %v", row.name, result, err)
		}
		if want := len(attempts); attempts[0].Code == "" || measured != want && attempts[0].Fault || !attempts[0].Fault && measured != want-1 {
			t.Errorf("%s: %d attempts, %d measured", row.name, want, measured)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAChainThatIsExhaustedListsItsAttempts(t *testing.T) {
	busy := candor.New(candor.CodeUpstreamUnavailable, "", candor.WithRetry(candor.RetryIn(time.Second)))
	dial := func(context.Context) (Conn, error) { return &fake{err: busy}, nil }
	r := New([]Upstream{{Name: "a", Dial: dial}, {Name: "b", Dial: dial}}, func(context.Context, string, Attempt) {})
	_, _, err := r.Call(context.Background(), []string{"b", "a"}, "t", nil)
	var exhausted *ExhaustedError
	if !errors.As(err, &exhausted) || len(exhausted.Attempts) != 2 || exhausted.Attempts[0].Upstream != "b" || exhausted.Last == nil {
		t.Errorf("%v", err)
	}
}

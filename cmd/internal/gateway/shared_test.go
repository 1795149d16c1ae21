package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
	"github.com/candor-mcp/candor/cmd/internal/testing/sharetest"
	"github.com/candor-mcp/candor/wire"
)

// sharedNode is a gateway in a network of gateways.
type sharedNode struct {
	t     *testing.T
	up    *Upstream
	bus   *sharetest.Bus
	group *share.Group
	clock *manualClock
}

func newSharedNode(t *testing.T, n *sharetest.Network, name string, clock *manualClock, o Options) *sharedNode {
	t.Helper()
	bus := n.Bus(name)
	group := share.New(share.Options{Bus: bus, Now: clock.Now})
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Shared, o.Now = group.Upstream("github", "https://api.example/mcp"), clock.Now
	return &sharedNode{t: t, up: New(o), bus: bus, group: group, clock: clock}
}

// call makes a tool call. It returns the refusal, or "" if the call was answered: with a failure if fails is set.
func (n *sharedNode) call(tool, arguments string, fails bool) string {
	n.t.Helper()
	m := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments), wire.Limits{})
	call, refusal := n.up.Admit(n.t.Context(), &m, "session-1")
	if call == nil {
		return string(refusal)
	}
	call.Close(n.t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no such file"}],"isError":%t}}`, fails))
	return ""
}

// lose makes a call that the server does not answer. It returns the refusal, or "".
func (n *sharedNode) lose() string {
	n.t.Helper()
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}`), wire.Limits{})
	call, refusal := n.up.Admit(n.t.Context(), &m, "")
	if call == nil {
		return string(refusal)
	}
	call.Fail(n.t.Context(), candor.New(candor.CodeUpstreamUnreachable, "", candor.WithOrigin(candor.PartyGateway, false)))
	return ""
}

// answer makes a call that the server answers. It returns the refusal, or "".
func (n *sharedNode) answer() string {
	n.t.Helper()
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}`), wire.Limits{})
	call, refusal := n.up.Admit(n.t.Context(), &m, "")
	if call == nil {
		return string(refusal)
	}
	call.Close(n.t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	return ""
}

func twoSharedNodes(t *testing.T, o Options) (*sharetest.Network, *manualClock, *sharedNode, *sharedNode) {
	t.Helper()
	n, clock := &sharetest.Network{}, newManualClock()
	return n, clock, newSharedNode(t, n, "a", clock, o), newSharedNode(t, n, "b", clock, o)
}

func TestSharedGuardStopsALoopOnEveryNode(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	for range 5 {
		a.call("read", `{"path":"x"}`, true)
	}
	a.bus.Flush()
	refusal := b.call("read", `{"path":"x"}`, true)
	if !strings.Contains(refusal, "REPEATED_FAILURE") || !strings.Contains(refusal, `"reportedBy":"a"`) || !strings.Contains(refusal, "at the gateway a") {
		t.Errorf("the loop on the other node: %s", refusal)
	}
	if refusal := b.call("read", `{"path":"y"}`, true); refusal != "" {
		t.Errorf("a call with other arguments is refused: %s", refusal)
	}
	clock.advance(5 * time.Second)
	if refusal := b.call("read", `{"path":"x"}`, true); refusal != "" {
		t.Errorf("the first trial is refused: %s", refusal)
	}
	if refusal := b.call("read", `{"path":"x"}`, true); !strings.Contains(refusal, "REPEATED_FAILURE") || strings.Contains(refusal, "reportedBy") {
		t.Errorf("after a failed trial: %s", refusal)
	}
}

func TestSharedGuardSaysNothingOfSessionsAndArguments(t *testing.T) {
	_, _, a, _ := twoSharedNodes(t, Options{})
	for range 6 {
		a.call("read", `{"path":"secret-path"}`, true)
	}
	sent := a.bus.Flush()
	found := false
	for _, v := range sent {
		found = found || strings.HasPrefix(v.Key, "repeat.")
		for _, secret := range []string{"secret-path", "session-1", "no such file"} {
			if strings.Contains(v.Key+string(v.Data), secret) {
				t.Errorf("%s was sent: %s %s", secret, v.Key, v.Data)
			}
		}
	}
	if !found {
		t.Errorf("nothing was sent: %v", sent)
	}
}

func TestSharedGuardForgetsAfterASuccessOnAnotherNode(t *testing.T) {
	n, _, a, b := twoSharedNodes(t, Options{})
	third := newSharedNode(t, n, "c", a.clock, Options{})
	for range 5 {
		a.call("read", `{"path":"x"}`, true)
	}
	a.bus.Flush()
	b.call("write", `{"path":"x"}`, false)
	b.bus.Flush()
	if refusal := third.call("read", `{"path":"x"}`, false); refusal != "" {
		t.Errorf("after a write on another node: %s", refusal)
	}
}

// A node that lies again and again delays a call once, and then not for a long time.
func TestFalseReportOfFailuresDelaysOnce(t *testing.T) {
	n, clock, a, b := twoSharedNodes(t, Options{})
	for range 5 {
		a.call("read", `{"path":"x"}`, true)
	}
	var lie share.Value
	for _, v := range a.bus.Flush() {
		if strings.HasPrefix(v.Key, "repeat.") {
			lie = v
		}
	}
	refused := time.Duration(0)
	for range 60 {
		n.Send("a", lie.Key, lie.Data, 0)
		if b.call("read", `{"path":"x"}`, false) != "" {
			refused += time.Second
		}
		clock.advance(time.Second)
	}
	if refused > 10*time.Second {
		t.Errorf("a call that would succeed was refused for %v of a minute", refused)
	}
}

func TestSharedBreakerRefusesWithReasonAndDelay(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	for range 10 {
		a.lose()
	}
	a.bus.Flush()
	refusal := b.lose()
	for _, want := range []string{"CIRCUIT_OPEN", `"reportedBy":"a"`, "UPSTREAM_UNREACHABLE", `"afterMs":10000`} {
		if !strings.Contains(refusal, want) {
			t.Errorf("the refusal lacks %s: %s", want, refusal)
		}
	}
	if s := b.up.Health().Breaker; s.State != BreakerOpen || s.ReportedBy != "a" {
		t.Errorf("status %+v", s)
	}
	clock.advance(10 * time.Second)
	if refusal := b.lose(); refusal != "" {
		t.Fatalf("the trial is refused: %s", refusal)
	}
	if refusal := b.lose(); !strings.Contains(refusal, "CIRCUIT_OPEN") {
		t.Errorf("after a failed trial: %q", refusal)
	}
	for _, v := range b.bus.Flush() {
		if strings.HasPrefix(v.Key, "breaker.") {
			t.Errorf("a report was repeated after one failure: %s", v.Data)
		}
	}
}

func TestSharedBreakerClosesWhenTheReporterIsAnswered(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	for range 10 {
		a.lose()
	}
	a.bus.Flush()
	clock.advance(9 * time.Second)
	if refusal := b.answer(); !strings.Contains(refusal, "CIRCUIT_OPEN") {
		t.Fatalf("not refused: %q", refusal)
	}
	clock.advance(time.Second)
	if refusal := a.answer(); refusal != "" {
		t.Fatal(refusal)
	}
	b.up.Breaker.mu.Lock()
	b.up.Breaker.until = clock.Now().Add(time.Hour) // only the message of a can close it
	b.up.Breaker.mu.Unlock()
	a.bus.Flush()
	if refusal := b.answer(); refusal != "" {
		t.Errorf("still refused: %s", refusal)
	}
}

// A closing report counts only against the report of the same node: own failures are believed more than others' successes.
func TestReportOfAnotherNodeDoesNotCloseAnOwnBreaker(t *testing.T) {
	n, _, _, b := twoSharedNodes(t, Options{})
	for range 10 {
		b.lose()
	}
	for _, v := range b.bus.Flush() {
		if strings.HasPrefix(v.Key, "breaker.") {
			n.Send("a", v.Key, []byte(`{"open":false,"upstream":"github"}`), 0)
		}
	}
	if refusal := b.lose(); !strings.Contains(refusal, "CIRCUIT_OPEN") {
		t.Errorf("a message closed the breaker: %q", refusal)
	}
}

func TestFalseReportOfABreakerDelaysAtMostOneTrialInterval(t *testing.T) {
	n, clock, a, b := twoSharedNodes(t, Options{})
	for range 10 {
		a.lose()
	}
	var lie share.Value
	for _, v := range a.bus.Flush() {
		if strings.HasPrefix(v.Key, "breaker.") {
			lie = v
		}
	}
	longest, current, total := 0, 0, 0
	for second := range 600 {
		n.Send(fmt.Sprintf("liar-%d", second), lie.Key, lie.Data, 0)
		if second%12 != 0 { // calls are rare, so that no answer contradicts the report
			clock.advance(time.Second)
			if current > 0 {
				current++
				total++
			}
			continue
		}
		if b.answer() == "" {
			longest, current = max(longest, current), 0
		} else if current == 0 {
			current = 1
		}
		clock.advance(time.Second)
	}
	if longest > 12 || total > 120 {
		t.Errorf("600 liars delayed calls for up to %d s, %d s of ten minutes", longest, total)
	}
}

// While the server answers this node, no report is believed.
func TestReportDoesNotRefuteAnOwnAnswer(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	b.answer()
	clock.advance(9 * time.Second)
	for range 10 {
		a.lose()
	}
	a.bus.Flush()
	if refusal := b.answer(); refusal != "" {
		t.Errorf("refused: %s", refusal)
	}
}

func TestOldReportOfABreakerIsForgotten(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	for range 10 {
		a.lose()
	}
	a.bus.Flush()
	clock.advance(time.Hour)
	if refusal := b.answer(); refusal != "" {
		t.Fatal(refusal)
	}
	if s := b.up.Health().Breaker; s.State != BreakerClosed {
		t.Errorf("status %+v", s)
	}
}

// While a trial of a hanging server runs, others are refused only if the report is fresh.
func TestBreakerThatWasNeverTriedIsClosedByTime(t *testing.T) {
	_, clock, a, b := twoSharedNodes(t, Options{})
	for range 10 {
		a.lose()
	}
	a.bus.Flush()
	clock.advance(time.Minute)
	knock(t, b.up) // it is not answered
	if refusal := b.answer(); refusal != "" {
		t.Errorf("refused because of a report from a minute ago: %s", refusal)
	}
}

func TestUnknownCodesAreExplainedByOtherNodes(t *testing.T) {
	n, _, a, _ := twoSharedNodes(t, Options{})
	envelope := `{"code":"TOO_NEW","domain":"candor","number":-39999,"class":"unavailable","retry":"not_retryable","message":"x","ref":"r1"}`
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}`), wire.Limits{})
	call, _ := a.up.Admit(t.Context(), &m, "s")
	call.noteSaid(candor.New(candor.CodeUnavailable, "", candor.WithDetails(map[string]any{"said": json.RawMessage(envelope)})))
	n.Send("z", "code.TOO_NEW", []byte(`{"code":"TOO_NEW","class":"unavailable","says":"It is too new.","action":"Wait.","since":"v9"}`), 0)
	codes := a.group.Status().Codes
	if len(codes) != 1 || codes[0].Says != "It is too new." || codes[0].Node != "z" {
		t.Errorf("codes %+v", codes)
	}
}

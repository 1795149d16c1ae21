package share_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
	"github.com/candor-mcp/candor/cmd/internal/testing/sharetest"
)

const (
	someSession = "00000000000000000000000000000001"
	someTool    = "00000000000000000000000000000002"
)

// newGroup returns a group whose clock stands still unless the test moves it.
func newGroup(t *testing.T, n *sharetest.Network, name, key string, now *time.Time) (*share.Group, *sharetest.Bus) {
	t.Helper()
	bus := n.Bus(name)
	g := share.New(share.Options{Bus: bus, Key: key, Version: "v1", Now: func() time.Time { return *now }})
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, bus
}

func noArguments() []byte { return []byte(`{}`) }

func report(session string) []byte {
	return fmt.Appendf(nil, `{"session":%q,"tool":%q,"code":"candor/NOT_FOUND","count":5}`, session, someTool)
}

func TestGarbageIsCountedAndIgnored(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	g, _ := newGroup(t, n, "a", "", &now)
	id := strings.Repeat("0", 32)
	garbage := map[string]string{
		"":                                  `{}`,
		"nonsense":                          `{}`,
		"breaker":                           `{}`,
		"breaker.":                          `{}`,
		"breaker.xyz":                       `{"open":true,"code":"candor/TIMEOUT","failures":1}`,
		"breaker." + id:                     `{"open":true,"code":"candor/NO_SUCH_CODE","failures":1}`,
		"breaker." + id + "0":               `{"open":true,"code":"candor/TIMEOUT","failures":1}`,
		"breaker." + id[1:] + "g":           `{"open":true}`,
		"repeat." + id:                      `not json`,
		"repeat." + id[1:] + "1":            `{"session":"zz","tool":"zz","code":"candor/NOT_FOUND","count":5}`,
		"repeat." + id[1:] + "2":            `{"session":"` + id + `","tool":"` + id + `","code":"candor/NOT_FOUND","count":-5}`,
		"repeat." + id[1:] + "3":            `{"session":"` + id + `","tool":"` + id + `","code":"candor/NOT_FOUND","count":5,"ref":"<script>"}`,
		"repeat." + id[1:] + "4":            strings.Repeat("[", share.MaxValue),
		"repeat." + id[1:] + "5":            `"` + strings.Repeat("x", 2*share.MaxValue) + `"`,
		"catalogue":                         `{"unknown":["lower case"]}`,
		"code.TIMEOUT":                      `{"code":"OTHER","class":"timeout"}`,
		"code.A_CODE":                       `{"code":"A_CODE","class":"nice"}`,
		strings.Repeat("x", share.MaxKey+1): `{}`,
	}
	for key, value := range garbage {
		n.Send("z", key, []byte(value), 0)
	}
	n.Send("no.node", "catalogue", []byte(`{}`), 0)
	if s := g.Status(); s.Ignored != uint64(len(garbage)+1) || s.Reports != 0 || len(s.Nodes) != 0 {
		t.Errorf("%d values of garbage: %+v", len(garbage)+1, s)
	}
}

func TestFloodsAreBounded(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	g, _ := newGroup(t, n, "a", "", &now)
	for i := range 1000 {
		n.Send("flood", fmt.Sprintf("repeat.%032x", i), report(someSession), 0)
	}
	if s := g.Status(); s.Reports != 256 || s.Ignored != 1000-256 {
		t.Errorf("one node: %d reports, %d ignored", s.Reports, s.Ignored)
	}
	for node := range 400 {
		for i := range 50 {
			n.Send(fmt.Sprintf("n%d", node), fmt.Sprintf("repeat.%032x", 1000+node*50+i), report(fmt.Sprintf("%032x", 7+i)), 0)
		}
		n.Send(fmt.Sprintf("n%d", node), "catalogue", []byte(`{"version":"v2"}`), 0)
	}
	if s := g.Status(); s.Reports != 8192 || len(s.Nodes) != 256 {
		t.Errorf("many nodes: %d reports, %d nodes", s.Reports, len(s.Nodes))
	}
}

// A node has to know session, tool and arguments to report a call, and all nodes need the same secret.
func TestReportsNeedTheSameKeyAndCall(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	a, bus := newGroup(t, n, "a", "secret", &now)
	b, _ := newGroup(t, n, "b", "secret", &now)
	other, _ := newGroup(t, n, "c", "other", &now)
	address := "https://api.example/mcp"
	a.Upstream("github", address).Failing("s", "read", noArguments(), share.Report{Code: "candor/NOT_FOUND", Count: 5, Ref: "r"})
	bus.Flush()
	for name, u := range map[string]*share.Upstream{
		"key": other.Upstream("github", address), "name": b.Upstream("gitlab", address), "address": b.Upstream("github", "https://other.example"),
	} {
		if r, ok := u.FailingElsewhere("s", "read", noArguments); ok {
			t.Errorf("another %s: %+v", name, r)
		}
	}
	u := b.Upstream("github", address)
	for _, c := range [][3]string{{"s2", "read", "{}"}, {"s", "write", "{}"}, {"s", "read", "{ }"}} {
		if r, ok := u.FailingElsewhere(c[0], c[1], func() []byte { return []byte(c[2]) }); ok {
			t.Errorf("%v: %+v", c, r)
		}
	}
	if r, ok := u.FailingElsewhere("s", "read", noArguments); !ok || r.Node != "a" || r.Count != 5 || r.Ref != "r" {
		t.Errorf("the same call: %+v, %t", r, ok)
	}
	if _, ok := u.FailingElsewhere("s", "read", noArguments); ok {
		t.Error("a report was returned twice")
	}
}

func TestOldReportsDoNotCount(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	a, bus := newGroup(t, n, "a", "", &now)
	b, _ := newGroup(t, n, "b", "", &now)
	failing := func() []share.Value {
		a.Upstream("u", "").Failing("s", "read", noArguments(), share.Report{Code: "candor/NOT_FOUND", Count: 5})
		return bus.Flush()
	}
	sent := failing()
	now = now.Add(2 * time.Minute)
	if r, ok := b.Upstream("u", "").FailingElsewhere("s", "read", noArguments); ok {
		t.Errorf("after two minutes: %+v", r)
	}
	last := sent[len(sent)-1]
	n.Send("z", last.Key, last.Data, time.Hour)
	if r, ok := b.Upstream("u", "").FailingElsewhere("s", "read", noArguments); ok && r.Node == "z" {
		t.Errorf("a replayed report: %+v", r)
	}
	failing()
	n.Send("z", last.Key, last.Data, time.Hour) // it must not replace the new report
	if r, ok := b.Upstream("u", "").FailingElsewhere("s", "read", noArguments); !ok || r.Node != "a" {
		t.Errorf("a new report, then an old one: %+v, %t", r, ok)
	}
}

func TestNodesExplainCodesThatOthersLack(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	g, bus := newGroup(t, n, "new", "", &now)
	bus.Flush()
	n.Send("old", "catalogue", []byte(`{"version":"v0","catalogue":"00","unknown":["RATE_LIMITED","FROM_THE_FUTURE"]}`), 0)
	n.Send("old2", "catalogue", []byte(`{"version":"v0","catalogue":"00","unknown":["RATE_LIMITED"]}`), 0)
	sent := bus.Flush()
	var d share.CodeDefinition
	if len(sent) != 1 || sent[0].Key != "code.RATE_LIMITED" || json.Unmarshal(sent[0].Data, &d) != nil || d.Class != "rate_limited" || d.Says == "" {
		t.Errorf("sent %s", sent)
	}
	if s := g.Status(); len(s.Nodes) != 2 || s.Nodes[0].Same || s.Nodes[0].Version != "v0" {
		t.Errorf("nodes %+v", s.Nodes)
	}
}

func TestDefinitionsOfOthersAreShortAndPrintable(t *testing.T) {
	n, now := &sharetest.Network{}, time.Now()
	g, bus := newGroup(t, n, "a", "", &now)
	g.Upstream("u", "").SawUnknownCode("FROM_THE_FUTURE")
	g.Upstream("u", "").SawUnknownCode("RATE_LIMITED") // known
	g.Upstream("u", "").SawUnknownCode("not a code")
	sent := bus.Flush()
	if last := sent[len(sent)-1]; last.Key != "catalogue" || !bytes.Contains(last.Data, []byte(`"unknown":["FROM_THE_FUTURE"]`)) {
		t.Errorf("sent %s", last.Data)
	}
	long, err := json.Marshal(share.CodeDefinition{Code: "FROM_THE_FUTURE", Class: "internal", Says: "\x1b[31m" + strings.Repeat("long ", 500)})
	if err != nil {
		t.Fatal(err)
	}
	n.Send("z", "code.FROM_THE_FUTURE", long, 0)
	n.Send("z", "code.NOT_ASKED_FOR", []byte(`{"code":"NOT_ASKED_FOR","class":"internal"}`), 0)
	codes := g.Status().Codes
	if len(codes) != 1 || codes[0].Node != "z" || len(codes[0].Says) > 500 || strings.ContainsRune(codes[0].Says, '\x1b') {
		t.Errorf("codes %+v", codes)
	}
}

func TestGatewayWithoutAGroupDecidesAlone(t *testing.T) {
	var g *share.Group
	u := g.Upstream("u", "")
	u.OnBreaker(nil)
	u.Opened("candor/TIMEOUT", 1)
	u.Closed()
	u.Confirmed()
	u.Refuted(time.Second)
	u.Failing("s", "t", nil, share.Report{})
	u.Cleared("s", "t")
	u.CallRefuted("s", time.Second)
	u.SawUnknownCode("CODE")
	if _, ok := u.FailingElsewhere("s", "t", noArguments); ok || u != nil {
		t.Error("a report without a group")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

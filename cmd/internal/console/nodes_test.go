package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// recordAt records failures with a message in the ledger of a node.
func (s *site) recordAt(node, message string, n int) (chain string) {
	s.t.Helper()
	l, err := ledger.Open(filepath.Join(s.dir, node), ledger.Options{Instance: "app"})
	if err != nil {
		s.t.Fatal(err)
	}
	for range n {
		e := candor.New(candor.CodeTimeout, message, candor.WithTool("read"))
		receipt, err := l.Append(context.Background(), ledger.FailureEntry(candor.Failure{Error: e, Verdict: "tool", Received: fmt.Appendf(nil, `{"error":{"message":%q}}`, message)}))
		if err != nil {
			s.t.Fatal(err)
		}
		chain = receipt.Chain
	}
	if err := l.Close(); err != nil {
		s.t.Fatal(err)
	}
	return chain
}

func openNodes(t *testing.T) *site {
	t.Helper()
	return &site{t: t, dir: t.TempDir(), nodes: true}
}

// apiList is the part of the API's list that the tests read.
type apiList struct {
	Total    int `json:"total"`
	Failures []struct {
		Node, Chain, Path, Message string
		Seq                        uint64
	} `json:"failures"`
}

func (s *site) list(query string) (list apiList) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.get("/api/v1/failures?"+query)), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

func TestNodesAreShownAndFiltered(t *testing.T) {
	t.Parallel()
	s := openNodes(t)
	chain := s.recordAt("web-1", "first words", 3)
	s.recordAt("web-2", "second words", 2)
	s.serve(console.Options{})

	all := s.get("/")
	contains(t, all, `id="n-failures">5<`, `id="n-nodes">2<`, "Where: nodes", `href="/?node=web-1"`, `<option value="web-2">`, `<label>Node <input name="node"`)
	one := s.get("/?node=web-1")
	contains(t, one, `id="n-failures">3<`, "first words", `value="web-1"`)
	if strings.Contains(one, "second words") {
		t.Error("the filter shows failures of another node")
	}
	if got := s.list("node=web-2"); got.Total != 2 || got.Failures[0].Node != "web-2" || strings.Contains(got.Failures[0].Chain, "/") {
		t.Errorf("%+v", got)
	}
	if got := s.list("node=web-1&q=second"); got.Total != 0 {
		t.Errorf("a text of another node was found: %+v", got)
	}
	if got := s.list("node=none"); got.Total != 0 {
		t.Errorf("failures without a node: %+v", got)
	}
	contains(t, s.get("/api/v1/summary"), `"nodes":[{"name":"web-1","count":3},{"name":"web-2","count":2}]`)

	row := s.list("node=web-1").Failures[0]
	if row.Chain != chain || !strings.HasPrefix(row.Path, "/failure/web-1."+chain+"/") {
		t.Errorf("%+v", row)
	}
	contains(t, s.get(row.Path), "first words", `id="node"><bdi>web-1</bdi>`, "a signed checkpoint over")
	contains(t, s.get(row.Path+"/proof.json"), `"chain":"`+chain+`"`)
	contains(t, s.get("/api/v1"+strings.Replace(row.Path, "/failure/", "/failures/", 1)), `"node":"web-1"`)
}

func TestNodeInAnAddressCannotLeadOut(t *testing.T) {
	t.Parallel()
	s := openNodes(t)
	chain := s.recordAt("web-1", "words", 1)
	if err := os.Mkdir(filepath.Join(s.dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(s.dir, "web-1")
	s.dir = filepath.Join(s.dir, "store")
	s.serve(console.Options{})
	for _, path := range []string{"..%2Fweb-1." + chain, "..." + chain, ".." + outside + "." + chain, chain, "web-1." + chain, "web-1%2F" + chain} {
		for _, suffix := range []string{"/1", "/1/proof.json", "/2", "/2/proof.json"} {
			if res, body := s.request("GET", "/failure/"+path+suffix, "", nil); res.StatusCode == 200 || strings.Contains(body, "words") {
				t.Errorf("GET /failure/%s%s: status %d", path, suffix, res.StatusCode)
			}
		}
	}
}

func TestNewNodesAreFound(t *testing.T) {
	t.Parallel()
	s := openNodes(t)
	s.recordAt("web-1", "old", 1)
	s.serve(console.Options{})
	feed := s.store.Subscribe(failures.Filter{Node: "web-9"})
	defer feed.Close()
	s.recordAt("web-1", "more", 1)
	s.recordAt("web-9", "new", 2)
	for range 2 {
		if f := <-feed.C; f.ID.Node() != "web-9" {
			t.Errorf("a failure of %s", f.ID.Node())
		}
	}
	if got := s.list(""); got.Total != 4 {
		t.Errorf("%d failures, want 4", got.Total)
	}
}

func TestDamageIsShownWithItsNode(t *testing.T) {
	t.Parallel()
	s := openNodes(t)
	chain := s.recordAt("web-1", "words", 3)
	s.recordAt("web-2", "words", 3)
	log := filepath.Join(s.dir, "web-1", chain, "audit-log.jsonl")
	text, err := os.ReadFile(log)
	if err == nil {
		lines := strings.SplitAfter(string(text), "\n")
		err = os.WriteFile(log, []byte(strings.Join(append(lines[:1:1], lines[2:]...), "")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.serve(console.Options{})
	s.server.Verify()
	var body string
	wait.Until(t, "the end of the verification", func() bool {
		body = s.get("/api/v1/verification")
		return !strings.Contains(body, `"state":"running"`)
	})
	contains(t, body, `"state":"damaged"`, `"chain":"web-1/`+chain+`","seq":2`)
	if strings.Contains(body, `"damage":[{"kind":"","chain":"web-2`) {
		t.Error("web-2 is damaged")
	}
	contains(t, s.get("/verify"), `<th scope="row">web-1/`+chain, `<th scope="row">web-2/app-`)
}

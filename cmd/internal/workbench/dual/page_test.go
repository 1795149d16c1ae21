package dual_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/wire"
)

var update = flag.Bool("update", false, "write docs/dual.md")

const page = "../../../../docs/dual.md"

// TestPage checks the table and the examples in docs/dual.md against the running server.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	legacy, unified := newPlace(t).start(), newPlace(t).start("--dialect", "dual-unified")
	want := string(text)
	want = between(t, want, "<!-- table:", "<!-- /table -->", table(t, legacy))
	for name, shown := range map[string]string{
		"success": exchange(legacy, "vrf_eval", args{"priv_key_hex": strings.Repeat("00", 32), "input": ""}),
		"a":       exchange(legacy, "consensus_finality", args{"round_id": "bad"}) + "\n\n" + exchange(legacy, "vrf_eval", args{"priv_key_hex": ""}),
		"b":       exchange(legacy, "task_get", args{"id": missing}) + "\n\n" + exchange(legacy, "merkle_root", args{"session_id": "missing"}),
		"unified": exchange(unified, "task_get", args{"id": missing}),
	} {
		want = between(t, want, "<!-- wire:"+name+" ", "<!-- /wire -->", "```\n"+shown+"\n```\n")
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the server says; run go test ./workbench/dual -run TestPage -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces the text between the line that begins with begin and the next end.
func between(t *testing.T, text, begin, end, with string) string {
	t.Helper()
	at := strings.Index(text, begin)
	if at < 0 {
		t.Fatalf("the page has no %s", begin)
	}
	from := at + strings.Index(text[at:], "\n") + 1
	to := strings.Index(text[from:], end)
	if to < 0 {
		t.Fatalf("%s has no end", begin)
	}
	return text[:from] + with + text[from+to:]
}

// table lists tool, pattern and codes.
func table(t *testing.T, s *server) string {
	t.Helper()
	m := s.Ask("tools/list", `{}`)
	var b strings.Builder
	b.WriteString("| Tool | Pattern | Codes |\n|---|---|---|\n")
	rows := 0
	var names []string
	byName := map[string]wire.Value{}
	for tool := range m.Result().Path("tools").Elements() {
		name, _ := tool.Path("name").Str()
		names = append(names, name)
		byName[name] = tool
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(inventory[a]+a, inventory[b]+b) })
	for _, name := range names {
		var codes []string
		for c := range byName[name].Path("_meta", "dev.candor/codes").Elements() {
			code, _ := c.Str()
			code = strings.TrimPrefix(code, "dual/")
			if !slices.Contains([]string{"INVALID_PARAMS", "HANDLER_ERROR", "TOOL_NOT_ADMITTED", "TOOL_LOCK_TIMEOUT", "kaiza/SELF_AUDIT_FAILURE", "candor/AUDIT_LOG_FAILED"}, code) && !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
		pattern := inventory[name]
		if pattern == "B" {
			pattern = "A, B"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, pattern, strings.Join(codes, ", "))
		rows++
	}
	if rows != 27 {
		t.Errorf("%d rows", rows)
	}
	return b.String()
}

// exchange shows a call and the members of its result that a client reads: content[0], structuredContent, isError.
func exchange(s *server, tool string, in args) string {
	a := s.call(tool, in)
	r := a.M.Result()
	marked := ""
	if v := r.Path("isError"); v.Present() {
		marked = `,"isError":` + string(v.Raw())
	}
	line := fmt.Sprintf(`{"content":[%s,…],"structuredContent":%s%s,"_meta":{…}}`, r.Path("content", 0).Raw(), r.Path("structuredContent").Raw(), marked)
	if r.Path("content").Len() == 1 {
		line = fmt.Sprintf(`{"content":[%s],"structuredContent":%s%s}`, r.Path("content", 0).Raw(), r.Path("structuredContent").Raw(), marked)
	}
	return "→ tools/call " + servertest.CallParams(s.T, tool, in) + "\n← " + line
}

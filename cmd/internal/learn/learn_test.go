package learn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/ledger"
)

// answer returns an exchange with a tool of the server shop.
func answer(tool, arguments, result string) exchange {
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	return exchange{Record: corpus.Record{Server: "shop", Tool: tool, Request: []byte(request), Response: []byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)}}
}

// text returns a result with one text block.
func text(t string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, t) }

func findings(t *testing.T, all []exchange, o learn.Options) *learn.Findings {
	t.Helper()
	r, err := ledger.OpenReader(record(t, all, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	found, err := learn.Read(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestShapesThatMayBeDataAreHeldBack(t *testing.T) {
	t.Parallel()
	const failed = `{"content":[{"type":"text","text":"Error: the backend said 500"}],"isError":true}`
	for name, c := range map[string]struct {
		all  []exchange
		held learn.Held
		n    uint64
	}{
		"own words": {[]exchange{answer("price", `{"item":"a"}`, text(`{"success":false,"error":"no such item"}`))}, "", 1},
		"own words twice": {[]exchange{
			answer("price", `{"item":"a"}`, text("Error fetching price: no such item")), answer("price", `{"item":"b"}`, text("Error fetching price: too many requests")),
		}, "", 2},
		"a page, once":        {[]exchange{answer("fetch_page", `{"url":"http://a.example"}`, text(`{"error":"invalid_grant"}`))}, learn.HeldContent, 1},
		"isError is used too": {[]exchange{answer("price", `{"item":"a"}`, text("Error: no such item")), answer("price", `{"item":"b"}`, failed)}, learn.HeldFlags, 1},
		"a failed record":     {[]exchange{answer("get_run", `{"id":"a"}`, text(`{"status":"failed","title":"Error: crash on start"}`))}, learn.HeldRecord, 1},
		"a record of a tool for them": {
			[]exchange{answer("save_status", `{"id":"a"}`, text(`{"status":"failed","message":"the disk was full","id":"a"}`))}, learn.HeldRecord, 1,
		},
		"a record with an id":        {[]exchange{answer("rename_task", `{"id":"a"}`, text(`{"id":"a","error":"cannot open the door"}`))}, learn.HeldRecord, 1},
		"an answer of JSON-RPC":      {[]exchange{answer("ask", `{"id":"a"}`, text(`{"jsonrpc":"2.0","id":1,"error":{"message":"no such item"}}`))}, "", 1},
		"a record of a logged error": {[]exchange{answer("store_errors", `{"n":1}`, text(`{"error":{"code":"E1","message":"boom"}}`))}, learn.HeldRecord, 1},
		"a file, with other arguments": {[]exchange{
			answer("read_file", `{"path":"/a.log","head":1}`, text("Error: something went wrong")), answer("read_file", `{"path":"/a.log","head":2}`, text("Error: something went wrong")),
		}, learn.HeldContent, 2},
		"a file that could not be read": {[]exchange{
			answer("read_file", `{"path":"/a"}`, text("Error reading file: no such file")), answer("read_file", `{"path":"/b"}`, text("Error reading file: no such file")),
		}, "", 2},
		"a file that could not be read, once": {[]exchange{answer("read_file", `{"path":"/a"}`, text("Error reading file: no such file"))}, learn.HeldOnce, 1},
		"a stored value":                      {[]exchange{answer("get_value", `{"key":"a"}`, text("Error: crash on start"))}, learn.HeldStored, 1},
		"a notice before content": {[]exchange{
			answer("list_prices", `{}`, `{"content":[{"type":"text","text":"Error: this version is no longer supported"},{"type":"text","text":"a 1"}]}`),
		}, learn.HeldMore, 1},
		"isError is used too, but the words vary": {[]exchange{
			answer("price", `{"item":"a"}`, text("Error: no item a")), answer("price", `{"item":"b"}`, text("Error: no item b")),
			answer("price", `{"item":"c"}`, text("Error: no item c")), answer("price", `{"item":"d"}`, failed),
		}, "", 3},
		"annotated": {[]exchange{
			answer("say_it", `{}`, `{"content":[{"type":"text","text":"Error: Operation failed","annotations":{"audience":["user"]}}]}`),
		}, learn.HeldMarked, 1},
	} {
		found := findings(t, c.all, learn.Options{})
		if len(found.Shapes) != 1 || found.Shapes[0].Held != c.held || found.Shapes[0].Count != c.n || found.Suspected != c.n {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestMemoryIsBoundedAndAnswersAreCounted has more shapes than are kept.
func TestMemoryIsBoundedAndAnswersAreCounted(t *testing.T) {
	t.Parallel()
	var all []exchange
	for i := range 70 {
		all = append(all, answer("price", `{"item":"a"}`, text("Error "+strings.Repeat("x", i/26)+string(rune(97+i%26))+"ing the price")))
	}
	found := findings(t, all, learn.Options{})
	var counted uint64
	for _, s := range found.Shapes {
		counted += s.Count
		if len(s.Examples) > 3 {
			t.Errorf("%d examples", len(s.Examples))
		}
	}
	if found.Suspected != 70 || counted+found.Dropped+found.NoRule != 70 || len(found.Shapes) > 50 || found.Dropped == 0 {
		t.Errorf("%d suspected, %d in %d shapes, %d dropped, %d without a rule", found.Suspected, counted, len(found.Shapes), found.Dropped, found.NoRule)
	}
}

func TestExtendKeepsTheFile(t *testing.T) {
	t.Parallel()
	masks := []profile.Mask{{Tool: "price", Path: "/ok", Equals: "false", Suspected: true}, {Tool: "price", Text: `^\s*Error:`, Suspected: true}}
	for name, file := range map[string]string{
		"no masks":        "version: 1 # mine\ncodes:\n  - said: E1\n    code: NOT_FOUND",
		"masks at end":    "version: 1\nmasks:\n- tool: a\n  path: /x\n",
		"masks in middle": "version: 1\nmasks: # mine\n    - tool: a\n      path: /x\n      # last\n\ncodes:\n  - said: E1\n    code: NOT_FOUND\n",
		"windows":         "version: 1\r\nmasks:\r\n  - tool: a\r\n    path: /x\r\n",
	} {
		out, added, err := learn.Extend([]byte(file), "shop", masks)
		if err != nil || added != 2 {
			t.Errorf("%s: added %d: %v", name, added, err)
			continue
		}
		rest := string(out)
		for _, line := range strings.Split(strings.TrimSpace(file), "\n") {
			before, after, ok := strings.Cut(rest, line)
			if !ok {
				t.Errorf("%s: lost %q in\n%s", name, line, out)
			}
			_, rest = before, after
		}
		if again, added, err := learn.Extend(out, "shop", masks); err != nil || added != 0 || string(again) != string(out) {
			t.Errorf("%s: the second time added %d: %v", name, added, err)
		}
	}
	for name, file := range map[string]string{
		"flow list": "version: 1\nmasks: [{tool: a, path: /x}]\n", "another server": "version: 1\nserver: other\n", "not a profile": "masks: 1\n",
	} {
		if _, _, err := learn.Extend([]byte(file), "shop", masks); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

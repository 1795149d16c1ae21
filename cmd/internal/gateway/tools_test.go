package gateway

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// A server has three pages with one tool each. No order of requests may make an existing tool unknown.
func TestPagesThatDoNotFollowEachOtherHideNoTool(t *testing.T) {
	pages := map[string]string{
		"":  `{"tools":[{"name":"a"}],"nextCursor":"2"}`,
		"2": `{"tools":[{"name":"b"}],"nextCursor":"3"}`,
		"3": `{"tools":[{"name":"c"}]}`,
	}
	for name, asked := range map[string][]string{
		"the last page twice":         {"", "2", "3", "3"},
		"two clients at a time":       {"", "2", "", "3", "2", "3"},
		"a page that was left out":    {"", "3"},
		"a list that goes on alone":   {"3"},
		"pages of a list of the past": {"", "2", "forget", "3"},
	} {
		up := New(Options{})
		for id, cursor := range asked {
			if cursor == "forget" {
				up.Tools.Forget()
				continue
			}
			request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":%q}}`, id, cursor), wire.Limits{})
			call, _ := up.Admit(t.Context(), &request, "s1")
			call.Close(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":%s}`, id, pages[cursor]))
		}
		for _, tool := range []string{"a", "b", "c"} {
			request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":%q}}`, tool), wire.Limits{})
			if call, refusal := up.Admit(t.Context(), &request, "s1"); call == nil {
				t.Errorf("%s: tool %s is refused: %s", name, tool, refusal)
			}
		}
	}
}

func TestAListThatIsTooLongIsNotKeptAndHidesNoTool(t *testing.T) {
	large := fmt.Sprintf(`{"name":"a","description":%q}`, strings.Repeat("d", maxToolBytes/2))
	many := strings.Repeat(`{"name":"a"},`, maxTools) + `{"name":"b"}`
	for name, list := range map[string]string{"large": large + "," + large, "many": many} {
		up := New(Options{})
		request := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), wire.Limits{})
		call, _ := up.Admit(t.Context(), &request, "s1")
		if reply := call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`+list+`]}}`)); reply.Bytes == nil {
			t.Errorf("%s: the list is not passed on", name)
		}
		if set := up.Tools.find(Caller{Session: "s1"}); set.current() != nil || set != nil && set.partial != nil {
			t.Errorf("%s: the list is kept", name)
		}
		request = wire.Parse([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"c"}}`), wire.Limits{})
		if call, refusal := up.Admit(t.Context(), &request, "s1"); call == nil {
			t.Errorf("%s: a tool is refused: %s", name, refusal)
		}
	}
}

// TestDeprecatedToolsAreNotSuggested checks the description by which a tool says that another one replaces it.
func TestDeprecatedToolsAreNotSuggested(t *testing.T) {
	for description, want := range map[string]bool{
		"Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.": true,
		"Deprecated. Use read_text_file.":                              true,
		"[Deprecated] Reads a file.":                                   true,
		"This tool is deprecated and will go.":                         true,
		"(deprecated, use the other)":                                  true,
		"Deprecated - use read_text_file":                              true,
		"Deprecated packages are listed here.":                         false,
		"Audits a page: security, deprecated APIs and modern hygiene.": false,
		"": false,
	} {
		quoted, err := json.Marshal(description)
		if err != nil {
			t.Fatal(err)
		}
		page, err := wire.ParseValue([]byte(`[{"name":"read_file","description":`+string(quoted)+`},{"name":"read_text_file"}]`), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if names := readTools(page, [sha256.Size]byte{}).names(); slices.Contains(names, "read_file") == want {
			t.Errorf("%q: the names are %q", description, names)
		}
	}
	only, err := wire.ParseValue([]byte(`[{"name":"read_file","description":"DEPRECATED"}]`), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if names := readTools(only, [sha256.Size]byte{}).names(); len(names) != 1 {
		t.Errorf("the names are %q", names)
	}
}

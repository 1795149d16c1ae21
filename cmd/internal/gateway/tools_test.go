package gateway

import (
	"fmt"
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

// A server may show different tools to different callers: the list of one must not affect another.
func TestOneCallersListHidesNoToolOfAnother(t *testing.T) {
	up := New(Options{})
	list := func(session, tool string) {
		request := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), wire.Limits{})
		call, _ := up.Admit(t.Context(), &request, session)
		call.Close(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":%q}]}}`, tool))
	}
	list("a", "admin_tool")
	list("b", "guest_tool")
	list("", "guest_tool")
	for _, c := range []struct{ session, tool string }{{"a", "admin_tool"}, {"b", "guest_tool"}, {"b", "admin_tol"}, {"", "admin_tool"}, {"c", "admin_tool"}} {
		request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q}}`, c.tool), wire.Limits{})
		call, refusal := up.Admit(t.Context(), &request, c.session)
		if call == nil {
			t.Errorf("session %q calls %s: %s", c.session, c.tool, refusal)
			continue
		}
		reply := call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool"}}`))
		if c.tool == "admin_tol" && strings.Contains(string(reply.Bytes), "admin_tool") {
			t.Errorf("session %q is sent the name of a tool of another: %s", c.session, reply.Bytes)
		}
	}
}

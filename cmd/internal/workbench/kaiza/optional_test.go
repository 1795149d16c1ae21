package kaiza_test

import (
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// TestAToolThatNeedsNoArgumentsTakesNone calls every tool without arguments, with null and with an empty object. A tool
// without required arguments succeeds; others report the missing argument, or that null is not an object.
func TestAToolThatNeedsNoArgumentsTakesNone(t *testing.T) {
	t.Parallel()
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		c := dial()
		c.begin("WINDSURF")
		if c.session != "" {
			return // a call without arguments cannot name its session
		}
		list := c.ask("tools/list", `{}`)
		tools := list.Result().Path("tools")
		seen := 0
		for tool := range tools.Elements() {
			name, _ := tool.Path("name").Str()
			needs := tool.Path("inputSchema", "required").Type() == wire.TypeArray
			for _, arguments := range []string{"", `,"arguments":null`, `,"arguments":{}`} {
				seen++
				a := answer{t, c.ask("tools/call", `{"name":"`+name+`"`+arguments+`}`)}
				if name == "submit_plan" {
					a.is("UNAUTHORIZED_ACTION") // the role is checked before the arguments
				} else if needs && arguments == `,"arguments":null` {
					a.is("INVALID_INPUT_FORMAT")
				} else if needs {
					a.is("MISSING_REQUIRED_FIELD")
				} else {
					a.fine()
				}
			}
		}
		if seen < 30 {
			t.Errorf("only %d calls were made", seen)
		}
	})
}

package stdio

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// The message for the model omits Markdown emphasis around it: both marks are removed, or neither.
func TestMessageHasNoHalfOfAnEmphasis(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	for said, want := range map[string]string{
		"**Connection failed** while reading":               "Connection failed while reading\n",
		"❌ **Query failed:** no such table users":           "Query failed: no such table users\n",
		"### **Error**: the index is broken":                "the index is broken\n",
		"**Error:** the index is broken":                    "the index is broken\n",
		"*Tool error* in **step 2**":                        "Tool error in **step 2**\n",
		"**MCP error -32603:** the index is broken":         "the index is broken\n",
		"***Fatal*** the index is broken":                   "Fatal the index is broken\n",
		"the index is **broken**":                           "the index is **broken**\n",
		"* the index is broken\n* the disk is full **now**": "the index is broken",
		"**never closed":                                    "never closed\n",
		"2 ** 3 is not supported":                           "2 ** 3 is not supported\n",
	} {
		s.call(1, "say", `{"text":`+jsonText(`{"jsonrpc":"2.0","id":$ID,"result":{"isError":true,"content":[{"type":"text","text":`+jsonText(said)+`}]}}`)+`}`)
		text := shown(t, s.answer("1"))
		_, message, _ := strings.Cut(text, ": ")
		if !strings.HasPrefix(message, want) {
			t.Errorf("%q: model sees %q, want %q", said, message, want)
		}
	}
	s.hangUp()
}

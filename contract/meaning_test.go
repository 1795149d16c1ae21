package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// TestAFailureIsCalledWhatItIs checks the codes for the words of servers that are not among the recordings.
func TestAFailureIsCalledWhatItIs(t *testing.T) {
	for _, c := range []struct{ name, method, answer, code string }{
		{"a method that the server has no number for", "buoys/list", rpcError(-32603, "Unknown method: buoys/list"), "candor/METHOD_NOT_FOUND"},
		{"a tool's own methods are none of the protocol", "tools/call", failing("Unknown method: paint"), "candor/NOT_FOUND"},
		{"the failure comes first and advice behind it", "tools/call",
			failing(`Mooring "west" does not exist or has expired.`, `Use "moor" to connect to a pier, or update the server configuration.`), "candor/NOT_FOUND"},
		{"a first block that says nothing leaves it to the next", "tools/call", failing("The boat stays.", "Rate limit exceeded"), "candor/RATE_LIMITED"},
		{"a program that is not there", "tools/call", failing("Could not find Harbour Chart executable for channel 'stable' at: /opt/chart"), "candor/DEPENDENCY_MISSING"},
		{"a thing to be opened first", "tools/call", failing("Error sailing: No active boat session"), "candor/PRECONDITION_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"moor","arguments":{}}}`, c.method), wire.Limits{})
			got := contract.Read(&contract.Exchange{Request: &request, Response: wire.Parse([]byte(c.answer), wire.Limits{})})
			if got.Error == nil || got.Error.Code().String() != c.code {
				t.Errorf("got %v, want %s", got.Error, c.code)
			}
		})
	}
}

func rpcError(number int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, number, message)
}

func failing(texts ...string) string {
	var blocks []map[string]string
	for _, text := range texts {
		blocks = append(blocks, map[string]string{"type": "text", "text": text})
	}
	content, _ := json.Marshal(blocks) // strings can always be encoded
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":%s}}`, content)
}

// TestAdviceNamesAListOnlyIfThereIsOne checks that the suggestion refers to the message if the error lists no issues.
func TestAdviceNamesAListOnlyIfThereIsOne(t *testing.T) {
	for text, listed := range map[string]bool{
		"Invalid arguments for moor": false, "No active boat session": false, "Missing required argument: berth": true,
	} {
		got := contract.Read(&contract.Exchange{Response: wire.Parse([]byte(failing(text)), wire.Limits{})})
		if points := strings.Contains(got.Error.Suggestion(), "listed"); points != listed {
			t.Errorf("%q: %q", text, got.Error.Suggestion())
		}
	}
}

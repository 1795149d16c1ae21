package main

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestDecodeRefusesInvalidUTF8: a script cannot contain such bytes.
func TestDecodeRefusesInvalidUTF8(t *testing.T) {
	in := "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\"}]}}\n" +
		`{"jsonrpc":"2.0","id":2,"result":{}}` + "\n"
	code, out, complaints := watched(in, nil, "decode", "--json")
	if code != term.ExitUsage || !strings.Contains(complaints, "line 1: not valid JSON: a string is not valid UTF-8") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `{"verdict":"malformed"`) || !strings.HasPrefix(lines[1], `{"verdict":"clean"`) {
		t.Errorf("%q", lines)
	}
}

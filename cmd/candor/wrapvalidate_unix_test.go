//go:build unix

package main

import (
	"strings"
	"testing"
)

// The client waits for the list of tools before it calls, so that the call can be checked however slow the machine is.
func TestWrapFollowsValidateFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags   []string
		refused bool
	}{
		{nil, false},
		{[]string{"--validate", "strict"}, true},
		{[]string{"--validate", "strict", "--validate-tool", "echo=off"}, false},
		{[]string{"--validate", "off", "--validate-tool", "echo=strict"}, true},
		{[]string{"--no-validation"}, false},
	} {
		p := launch(t, append(append([]string{"wrap"}, c.flags...), "--", "badserver")...)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		p.hear()
		p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		p.hear()
		p.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"zz":1}}}`)
		if answer := p.hear(); strings.Contains(answer, "INVALID_ARGUMENTS") != c.refused {
			t.Errorf("%q: %s", c.flags, answer)
		}
		_ = p.in.Close()
		p.ends()
		const accepts = `msg="the server accepts arguments that its schema does not allow" upstream=badserver tool=echo path=/zz rule=unknown_key`
		if logged := strings.Contains(p.said.String(), accepts); logged != (c.flags == nil) {
			t.Errorf("%q: the log says %s", c.flags, p.said)
		}
	}
}

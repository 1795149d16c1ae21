package stdio

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// met returns a desk after the handshake.
func met(t *testing.T, o gateway.Options) *desk {
	d := newDesk(t, o)
	d.client(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	d.server(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`)
	d.client(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.told()
	d.heard()
	return d
}

// asks waits for the gateway's tools/list request and answers it with a result.
func (d *desk) asks(result string) {
	d.t.Helper()
	synctest.Wait()
	heard := d.heard()
	if len(heard) != 1 || !strings.Contains(heard[0], `"tools/list"`) {
		d.t.Errorf("the server was sent %q", heard)
		return
	}
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(heard[0]), &m); err != nil {
		d.t.Error(err)
	}
	d.server(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func TestToolsAreKnownBeforeTheFirstCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := met(t, gateway.Options{})
		go d.say(gatewaytest.ToolCall(1, "works", `{}`))
		d.asks(`{"tools":[{"name":"other","inputSchema":{"type":"object"}}],"nextCursor":"2"}`)
		d.asks(`{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}`)
		d.wantHeard(gatewaytest.ToolCall(1, "works", `{}`))
		d.server(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}`)
		told := d.told()
		if len(told) != 1 || gatewaytest.CodeOf(told[0]) != "TOOL_NOT_FOUND" || !strings.Contains(told[0], `\"work\"`) {
			t.Errorf("%s", told)
		}
		call := gatewaytest.ToolCall(2, "work", `{}`)
		d.client(call)
		d.wantHeard(call)
		d.server(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		d.told()
		go d.say(gatewaytest.ToolCall(3, "gone", `{}`))
		d.asks(`{"tools":[]}`)
		d.wantHeard(gatewaytest.ToolCall(3, "gone", `{}`))
	})
}

// ping is a request that does not depend on the tools.
const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`

// A server that does not answer the gateway's tools/list delays the first call a little, and nothing else: not a ping, not the
// next call, and not the first call after its tools have changed.
func TestUnansweredListDelaysOnlyTheFirstCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := met(t, gateway.Options{})
		first, second, third := gatewaytest.ToolCall(1, "work", `{}`), gatewaytest.ToolCall(2, "work", `{}`), gatewaytest.ToolCall(3, "work", `{}`)
		d.client(first, ping)
		if heard := d.heard(); len(heard) != 2 || !strings.Contains(heard[0]+heard[1], `"tools/list"`) || !strings.Contains(heard[0]+heard[1], ping) {
			t.Errorf("the server was sent %q: a ping waits for the list", heard)
		}
		pass(gateway.MaxCheckTimeout)
		d.wantHeard(first)
		d.client(second)
		d.wantHeard(second)
		d.server(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		d.client(third)
		d.wantHeard(third)
	})
}

// The timeout of a call begins when it is read, and most of it is left to the server.
func TestDeadlineHoldsWhileTheListHangs(t *testing.T) {
	hello, ready := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for name, began := range map[string]func(t *testing.T) *desk{
		"the list": func(t *testing.T) *desk { return met(t, gateway.Options{Timeout: time.Second}) },
		"initialize": func(t *testing.T) *desk {
			d := newDesk(t, gateway.Options{Timeout: time.Second, Timeouts: map[string]time.Duration{"": time.Hour}})
			d.client(hello, ready)
			d.heard()
			return d
		},
	} {
		bubble(t, func(t *testing.T) {
			d := began(t)
			call := gatewaytest.ToolCall(1, "work", `{}`)
			at := time.Now()
			go d.say(call)
			pass(time.Second / 2)
			if heard := d.heard(); len(heard) == 0 || heard[len(heard)-1] != call {
				t.Errorf("%s hangs: after half its time the call has not reached the server: %q", name, heard)
			}
			pass(time.Second / 2)
			if told := d.told(); len(told) != 1 || gatewaytest.CodeOf(told[0]) != "CALL_TIMEOUT" {
				t.Errorf("%s hangs: after %v the client was sent %q", name, time.Since(at), told)
			}
		})
	}
}

func TestUnansweredListDoesNotDelayTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := met(t, gateway.Options{})
		call := gatewaytest.ToolCall(1, "work", `{}`)
		d.client(call)
		pass(gateway.MaxCheckTimeout)
		d.server(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		if !isClosed(d.link.drained()) {
			t.Error("the end waits for the gateway's own list")
		}
	})
}

// Held calls keep their order on one stream, and can be cancelled.
func TestHeldCallsKeepTheirOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := met(t, gateway.Options{})
		first, second, third := gatewaytest.ToolCall(1, "work", `{}`), gatewaytest.ToolCall(2, "other", `{}`), gatewaytest.ToolCall(3, "work", `{}`)
		d.client(first, second, third)
		d.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		d.asks(`{"tools":[{"name":"work","inputSchema":{"type":"object"}},{"name":"other"}]}`)
		synctest.Wait()
		d.wantHeard(first, third)
		d.wantEntries(map[string]int{"CANCELLED": 1}, 1)
	})
}

// Some clients do not wait for the answer to initialize before they call.
func TestACallInOneBreathWithTheHandshakeIsCheckedToo(t *testing.T) {
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationStrict}, badChild())
	s.send(strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		gatewaytest.ToolCall(1, "echo", `{"wrong":1}`), gatewaytest.ToolCall(2, "echo", `{"text":"right"}`),
	}, "\n"))
	if answer := s.answer("1"); gatewaytest.CodeOf(answer) != "INVALID_ARGUMENTS" {
		t.Errorf("bad arguments were forwarded: %s", answer)
	}
	if answer := s.answer("2"); gatewaytest.CodeOf(answer) != "" {
		t.Error(answer)
	}
	if answer := s.answer("0"); gatewaytest.CodeOf(answer) != "" {
		t.Error(answer)
	}
}

func TestUnansweredInitializeIsAwaitedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		first, second := gatewaytest.ToolCall(1, "work", `{}`), gatewaytest.ToolCall(2, "work", `{}`)
		hello, ready := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		d.client(hello, ready, first, second)
		d.wantHeard(hello, ready)
		pass(gateway.MaxCheckTimeout)
		d.wantHeard(first, second)
		third := gatewaytest.ToolCall(3, "work", `{}`)
		d.client(third)
		d.wantHeard(third)
	})
}

func TestGatewayListsToolsOnlyIfAllowed(t *testing.T) {
	call := gatewaytest.ToolCall(1, "work", `{}`)
	bubble(t, func(t *testing.T) {
		for _, o := range []gateway.Options{{Mode: gateway.ModeObserve}, {Validate: gateway.ValidationOff}} {
			d := met(t, o)
			d.client(call)
			d.wantHeard(call)
		}
		d := newDesk(t, gateway.Options{}) // before the handshake
		d.client(call)
		d.wantHeard(call)
	})
}

func TestStatelessListHasClientMeta(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		const about = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"x":1e3}`
		go d.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1,` + about + `}}}`)
		synctest.Wait()
		if heard := d.heard(); len(heard) != 1 || !strings.HasSuffix(heard[0], `"method":"tools/list","params":{"_meta":{`+about+`}}}`) {
			t.Error(heard)
		}
		pass(time.Minute)
	})
}

package gateway

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// met is a desk whose peers have shaken hands.
func met(t *testing.T, o Options) *desk {
	d := newDesk(t, o)
	d.client(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	d.server(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`)
	d.client(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.told()
	d.heard()
	return d
}

// asks waits for the gateway's own tools/list, and answers it with a result.
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
		d := met(t, Options{})
		go d.say(toolCall(1, "works", `{}`))
		d.asks(`{"tools":[{"name":"other","inputSchema":{"type":"object"}}],"nextCursor":"2"}`)
		d.asks(`{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}`)
		synctest.Wait()
		told := d.told()
		if len(told) != 1 || codeOf(told[0]) != "TOOL_NOT_FOUND" || !strings.Contains(told[0], `\"work\"`) {
			t.Errorf("%s", told)
		}
		call := toolCall(2, "work", `{}`)
		d.client(call)
		d.wantHeard(call)
		d.server(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		d.told()
		go d.say(toolCall(3, "gone", `{}`))
		d.asks(`{"tools":[]}`)
		synctest.Wait()
		d.wantTold("TOOL_NOT_FOUND")
	})
}

func TestAServerThatDoesNotListItsToolsIsNotWaitedForTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := met(t, Options{})
		began := time.Now()
		call := toolCall(1, "work", `{}`)
		d.client(call)
		if time.Since(began) != learnPatience {
			t.Errorf("waited %v", time.Since(began))
		}
		if heard := d.heard(); len(heard) != 2 || heard[1] != call {
			t.Error(heard)
		}
		began = time.Now()
		d.client(toolCall(2, "work", `{}`))
		if len(d.heard()) != 1 || time.Since(began) != 0 {
			t.Error("it waits again")
		}
	})
}

// Some clients do not wait for the answer to initialize before they call.
func TestACallInOneBreathWithTheHandshakeIsCheckedToo(t *testing.T) {
	s := wrapped(t, Options{}, badChild())
	s.send(strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		toolCall(1, "echo", `{"wrong":1}`), toolCall(2, "echo", `{"text":"right"}`),
	}, "\n"))
	if answer := s.answer("1"); codeOf(answer) != "INVALID_ARGUMENTS" {
		t.Errorf("bad arguments were forwarded: %s", answer)
	}
	if answer := s.answer("2"); codeOf(answer) != "" {
		t.Error(answer)
	}
	if answer := s.answer("0"); codeOf(answer) != "" {
		t.Error(answer)
	}
}

func TestAServerThatDoesNotGreetIsNotWaitedForTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, Options{})
		began := time.Now()
		first, second := toolCall(1, "work", `{}`), toolCall(2, "work", `{}`)
		hello, ready := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		d.client(hello, ready, first, second)
		if time.Since(began) != learnPatience {
			t.Errorf("waited %v", time.Since(began))
		}
		d.wantHeard(hello, ready, first, second)
	})
}

func TestTheGatewayAsksNothingOfItsOwnWhereItMayNot(t *testing.T) {
	call := toolCall(1, "work", `{}`)
	bubble(t, func(t *testing.T) {
		for _, o := range []Options{{Mode: ModeObserve}, {NoValidation: true}} {
			d := met(t, o)
			d.client(call)
			d.wantHeard(call)
		}
		d := newDesk(t, Options{}) // before the handshake
		d.client(call)
		d.wantHeard(call)
	})
}

func TestTheNewEraIsAskedInItsOwnWords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, Options{})
		const about = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"x":1e3}`
		go d.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1,` + about + `}}}`)
		synctest.Wait()
		if heard := d.heard(); len(heard) != 1 || !strings.HasSuffix(heard[0], `"method":"tools/list","params":{"_meta":{`+about+`}}}`) {
			t.Error(heard)
		}
		time.Sleep(time.Minute)
	})
}

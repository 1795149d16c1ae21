package stdio

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A server may list very many tools. Their schemas are compiled on first call, because compiling all of them would take most of a
// gigabyte.
func TestSchemasAreCompiledAtTheFirstCall(t *testing.T) {
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationStrict}, listChild(gatewaytest.ListsMany))
	s.greet()
	before := heap()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if list := s.answer("1"); len(list) < 1<<20 {
		t.Fatalf("the list has %d bytes", len(list))
	}
	for id := 2; id < 12; id++ {
		s.call(id, fmt.Sprintf("t%d", id), `{"p3":"No"}`)
		if answer := s.answer(fmt.Sprint(id)); gatewaytest.CodeOf(answer) != "INVALID_ARGUMENTS" {
			t.Errorf("call %d is not checked: %.200s", id, answer)
		}
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("the list takes %d MiB", grown>>20)
	}
}

// Some servers end their list with an empty cursor.
func TestEmptyCursorEndsTheList(t *testing.T) {
	for _, end := range []string{`""`, `null`} {
		bubble(t, func(t *testing.T) {
			d := met(t, gateway.Options{})
			go d.say(gatewaytest.ToolCall(1, "work", `{}`))
			d.asks(`{"tools":[{"name":"other"}],"nextCursor":"2"}`)
			d.asks(`{"tools":[{"name":"work","inputSchema":{"type":"object","required":["x"]}}],"nextCursor":` + end + `}`)
			d.client()
			d.wantTold("INVALID_ARGUMENTS")
			d.wantHeard()
		})
	}
}

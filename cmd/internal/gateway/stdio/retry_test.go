package stdio

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

const (
	busy = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"503 Service Unavailable. Retry after 2 seconds."}],"isError":true}}`
	work = `{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"work","inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}}]}}`
)

// retrying returns a desk on which the tool work may be retried.
func retrying(t *testing.T) *desk {
	d := newDesk(t, gateway.Options{Timeout: time.Minute, Retry: gateway.RetryPolicy{Attempts: 3}})
	d.client(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
	d.server(work)
	d.told()
	d.heard()
	return d
}

func TestARetriedCallIsSentAsTheSameBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := retrying(t)
		call := `{"method":"tools/call", "id":1, "params":{"name":"work","arguments":{}} ,"jsonrpc":"2.0"}`
		d.client(call)
		d.wantHeard(call)
		d.server(busy)
		d.wantTold()
		d.server(busy) // an answer between two attempts belongs to no call
		d.wantHeard()
		pass(4 * time.Second)
		d.wantHeard(call)
		d.server(okay)
		if told := d.told(); len(told) != 1 || told[0] != okay {
			t.Error(told)
		}
		d.wantEntries(map[string]int{"STRAY_ANSWER": 1}, 1)
		if all := d.books.All(); len(all) != 2 || !all[0].Retried {
			t.Errorf("entries %+v", all)
		}
	})
}

func TestAWaitForAnotherAttemptEndsWithTheDeadlineTheClientOrTheServer(t *testing.T) {
	for name, end := range map[string]func(*desk){
		"CALL_TIMEOUT":     func(*desk) { pass(time.Minute) },
		"GATEWAY_DRAINING": func(d *desk) { d.link.end(gateway.DrainingError()) },
		"CANCELLED": func(d *desk) {
			d.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			d.heard()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := retrying(t)
				d.client(gatewaytest.ToolCall(1, "work", `{}`))
				pass(59 * time.Second)
				d.heard()
				d.server(busy)
				end(d)
				synctest.Wait()
				if told := strings.Join(d.told(), ""); name != "CANCELLED" && strings.Count(told, name) == 0 || name == "CANCELLED" && told != "" {
					t.Error(told)
				}
				pass(time.Minute)
				d.wantHeard() // neither the call nor a cancellation, because the server has no call
				d.wantTold()
				if d.books.ByCode()[name] != 1 {
					t.Error(d.books.ByCode())
				}
			})
		})
	}
}

package stdio

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/framing"
)

// desk is a clientConn and a serverConn; the test simulates their two peers, line by line.
type desk struct {
	t                  *testing.T
	books              *gatewaytest.Books
	pump               *clientConn
	link               *serverConn
	toClient, toServer *gatewaytest.LockedBuffer
	seenC, seenS       int
}

func newDesk(t *testing.T, o gateway.Options) *desk {
	d := &desk{t: t, books: &gatewaytest.Books{}, toClient: &gatewaytest.LockedBuffer{}, toServer: &gatewaytest.LockedBuffer{}}
	o.Ledger, o.Meter = d.books, d.books
	o.Breaker.Off, o.Repeats.Off = true, true
	d.pump = newClientConn(t.Context(), gateway.New(o), d.toClient)
	d.link = d.pump.newServerConn(newLineWriter(d.toServer, 0))
	d.pump.connect(d.link)
	return d
}

func (d *desk) client(lines ...string) {
	d.say(lines...)
	synctest.Wait()
}

// say is like client, but does not wait for the effects.
func (d *desk) say(lines ...string) {
	for _, line := range lines {
		d.pump.fromClient(framing.Line{Bytes: []byte(line), Size: int64(len(line))})
	}
	d.pump.flush()
}

func (d *desk) server(lines ...string) {
	for _, line := range lines {
		d.link.fromServer(framing.Line{Bytes: []byte(line), Size: int64(len(line))})
	}
	d.pump.flush()
	synctest.Wait()
}

// told returns the lines sent to the client since the last call.
func (d *desk) told() []string { return since(d.toClient, &d.seenC) }

// heard returns the lines sent to the server since the last call.
func (d *desk) heard() []string { return since(d.toServer, &d.seenS) }

func since(b *gatewaytest.LockedBuffer, seen *int) []string {
	text := b.String()[*seen:]
	*seen += len(text)
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

func (d *desk) wantTold(codes ...string) {
	d.t.Helper()
	lines := d.told()
	var got []string
	for _, line := range lines {
		got = append(got, gatewaytest.CodeOf(line))
	}
	if fmt.Sprint(got) != fmt.Sprint(codes) {
		d.t.Fatalf("the client was told %v, want %v: %s", got, codes, lines)
	}
}

func (d *desk) wantHeard(lines ...string) {
	d.t.Helper()
	if got := d.heard(); fmt.Sprint(got) != fmt.Sprint(lines) {
		d.t.Fatalf("the server was sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func (d *desk) wantEntries(want map[string]int, suppressed int) {
	d.t.Helper()
	entries, counts, hushed := d.books.Totals()
	if fmt.Sprint(d.books.ByCode()) != fmt.Sprint(want) || entries != counts || hushed != suppressed {
		d.t.Errorf("entries %v, counts %d, suppressed %d; want %v and %d suppressed", d.books.ByCode(), counts, hushed, want, suppressed)
	}
}

// bubble runs a test in which time advances only when all goroutines are blocked.
func bubble(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }

// pass lets time pass in a bubble, and waits for the effects.
func pass(d time.Duration) {
	time.Sleep(d) // moves the clock of the bubble and takes no time
	synctest.Wait()
}

const okay = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}`

func TestACallEndsAtItsDeadlineAndItsLateAnswerIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{Timeout: time.Hour, Timeouts: map[string]time.Duration{"work": 10 * time.Second}})
		call := gatewaytest.ToolCall(1, "work", `{}`)
		d.client(call)
		d.wantHeard(call)
		pass(10*time.Second - time.Millisecond)
		d.wantTold()
		pass(time.Millisecond)
		d.wantTold("CALL_TIMEOUT")
		d.wantHeard(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the call did not finish before its deadline"}}`)
		d.client(call) // the late answer could be confused with one to this call
		d.wantTold("DUPLICATE_REQUEST_ID")
		d.server(okay)
		d.wantTold()
		d.wantEntries(map[string]int{"CALL_TIMEOUT": 1, "DUPLICATE_REQUEST_ID": 1}, 0)
		if n := d.pump.up.Late(); n != 1 {
			t.Errorf("%d late answers are counted", n)
		}
		d.server(okay) // only one late answer is expected
		d.wantTold()
		d.wantEntries(map[string]int{"CALL_TIMEOUT": 1, "DUPLICATE_REQUEST_ID": 1, "STRAY_ANSWER": 1}, 1)
	})
}

// The session ends when no call is open, while the failure of the last one may still be written to the ledger.
func TestACallThatItsDeadlineEndsIsAnsweredBeforeTheSessionEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{Timeout: 10 * time.Second})
		d.books.Slow = time.Second
		d.client(gatewaytest.ToolCall(1, "work", `{}`))
		<-d.link.drained()
		d.link.end(gateway.DrainingError())
		d.pump.client.shut()
		if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "CALL_TIMEOUT") {
			t.Errorf("%q", told)
		}
	})
}

func TestEachCallHasItsDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{Timeout: time.Hour, Timeouts: map[string]time.Duration{"quick": time.Second, "never": -1}})
		d.client(gatewaytest.ToolCall(1, "slow", `{}`), gatewaytest.ToolCall(2, "quick", `{}`), gatewaytest.ToolCall(3, "never", `{}`))
		pass(time.Second)
		d.wantTold("CALL_TIMEOUT") // it was sent later, but is due earlier
		d.client(gatewaytest.ToolCall(4, "quick", `{}`))
		pass(time.Second)
		d.wantTold("CALL_TIMEOUT")
		pass(time.Hour)
		d.wantTold("CALL_TIMEOUT")
		d.wantEntries(map[string]int{"CALL_TIMEOUT": 3}, 0) // and one has no timeout
	})
}

func TestInitializeIsNotCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{StartTimeout: time.Second})
		d.client(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
		d.heard()
		pass(time.Second)
		d.wantTold("CALL_TIMEOUT")
		d.wantHeard()
	})
}

func TestProgressExtendsTheDeadlineButNotForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{Timeout: 10 * time.Second})
		d.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{},"_meta":{"progressToken":"a\u0062c"}}}`)
		began := time.Now()
		report := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"abc","progress":1}}`
		reports := 0
		for !strings.Contains(strings.Join(d.told(), ""), "CALL_TIMEOUT") {
			pass(9 * time.Second)
			d.server(report)
			if reports++; reports > 100 {
				t.Fatal("it never ends")
			}
		}
		if took := time.Since(began); took < 120*time.Second || took > 130*time.Second {
			t.Errorf("it took %v", took)
		}
		d.client(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":7}}}`)
		for range 5 {
			pass(9 * time.Second)
			d.server(strings.Replace(report, `"abc"`, `"7"`, 1)) // a different token
			d.server(strings.Replace(report, `"abc"`, `7`, 1))
		}
		d.server(strings.Replace(okay, `"id":1`, `"id":2`, 1))
		if last := d.told(); gatewaytest.CodeOf(last[len(last)-1]) != "" {
			t.Error(last)
		}
	})
}

// After progress the tool has begun, so that a refusal in the server's name does not prove that nothing was done.
func TestProgressDisprovesARefusal(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[],"_meta":{"dev.candor/error":` +
		`{"code":"TOO_MANY_CALLS","class":"rate_limited","message":"m","retry":{"kind":"retryable_immediate"},"domain":"candor","number":4071,"origin":{"by":"server","inferred":false}}}}}`
	for _, progress := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			d := newDesk(t, gateway.Options{})
			d.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail","arguments":{},"_meta":{"progressToken":"abc"}}}`)
			if progress {
				d.server(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"abc","progress":1}}`)
			}
			d.server(refusal)
			told := d.told()
			if got := gatewaytest.ReadAdvice(t, told[len(told)-1]); (got.Retry.Kind == "not_retryable") != progress {
				t.Errorf("progress %t: %+v", progress, got)
			}
		})
	}
}

// An answer that names its id twice cannot be delivered, and ends the call that it names.
func TestAnswerWithTwoIDsEndsItsCall(t *testing.T) {
	for _, answer := range []string{`{"jsonrpc":"2.0","id":1,"id":1,"result":{}}`, `{"jsonrpc":"2.0","id":9,"id":1,"result":{}}`, `{"id":1,"jsonrpc":"2.0","result":{},"ID":1}`, `{"jsonrpc":"2.0","id":{},"id":1,"result":{}}`} {
		bubble(t, func(t *testing.T) {
			d := newDesk(t, gateway.Options{})
			d.client(gatewaytest.ToolCall(1, "work", `{}`))
			d.server(answer)
			d.wantTold("UPSTREAM_MALFORMED")
		})
	}
}

func TestACancelledCallIsNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		call := strings.Replace(gatewaytest.ToolCall(1, "work", `{}`), `"id":1`, `"id":"a/b"`, 1)
		off := `{"jsonrpc": "2.0","method":"notifications/cancelled","params":{"requestId":"a\/b"}}` // the same id
		d.client(call, off)
		d.wantHeard(call, off)
		d.server(strings.Replace(okay, `"id":1`, `"id":"a/b"`, 1))
		d.wantTold()
		d.wantEntries(map[string]int{"CANCELLED": 1}, 1)
		pass(time.Hour)
		d.wantTold()
	})
}

func TestIdsThatAreOpenAreRefusedAndOthersAreNot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		for _, id := range []string{`1`, `1.0`, `"1"`, `9007199254740993`, `9223372036854775808`, `"` + strings.Repeat("x", 1000) + `"`} {
			call := strings.Replace(gatewaytest.ToolCall(1, "work", `{}`), `"id":1`, `"id":`+id, 1)
			d.client(call)
			d.wantHeard(call)
			d.client(call)
			d.wantTold("DUPLICATE_REQUEST_ID")
			d.wantHeard()
		}
		d.client(strings.Replace(gatewaytest.ToolCall(1, "work", `{}`), `"id":1`, `"id":"\u0031"`, 1))
		d.wantTold("DUPLICATE_REQUEST_ID")
		d.server(okay)
		if told := d.told(); len(told) != 1 || told[0] != okay {
			t.Error(told)
		}
	})
}

func TestOpenCallsAndTheirBytesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{Limits: gateway.Limits{Calls: 3}})
		for id := range 4 {
			d.client(gatewaytest.ToolCall(id, "work", `{}`))
		}
		d.wantTold("TOO_MANY_CALLS")
		d.server(okay)
		d.told()
		d.client(gatewaytest.ToolCall(5, "work", `{}`))
		d.wantTold()

		d = newDesk(t, gateway.Options{})
		d.client(gatewaytest.ToolCall(1, "work", `{}`))
		each := len(gatewaytest.ToolCall(1, "work", `{}`))
		if d.link.held != each {
			t.Fatalf("%d bytes are open, want %d", d.link.held, each)
		}
		d.link.held = maxHeld - each
		d.client(gatewaytest.ToolCall(2, "work", `{}`), gatewaytest.ToolCall(3, "work", `{}`))
		d.wantTold("TOO_MANY_CALLS")
		d.server(okay)
		d.told()
		d.client(gatewaytest.ToolCall(3, "work", `{}`))
		d.wantTold()
	})
}

func TestUnrequestedAnswerDoesNotReachTheServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		answer := `{"jsonrpc":"2.0","id":"q","result":{}}`
		d.client(answer)
		d.wantHeard()
		d.server(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		d.client(answer, answer)
		d.wantHeard(answer)
	})
}

func TestTheEndOfTheServerAnswersAllThatIsOpenAndAllThatComes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		for id := range 100 {
			d.client(gatewaytest.ToolCall(id, "work", `{}`))
		}
		d.link.end(gateway.DrainingError())
		d.client(gatewaytest.ToolCall(100, "work", `{}`))
		if told := d.told(); len(told) != 101 {
			t.Errorf("%d of 101 are answered", len(told))
		}
		d.wantEntries(map[string]int{"GATEWAY_DRAINING": 101}, 0)
		pass(time.Hour)
		d.wantTold()
	})
}

func TestEndWaitsForRecording(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		d.books.Slow = time.Second
		began := time.Now()
		for id := range 100 {
			d.client(gatewaytest.ToolCall(id, "work", `{}`))
			d.server(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[],"isError":true}}`, id))
		}
		clean := strings.Replace(okay, `"id":1`, `"id":100`, 1)
		d.client(gatewaytest.ToolCall(100, "work", `{}`))
		d.server(clean)
		if told := d.told(); len(told) != 1 || told[0] != clean {
			t.Errorf("a success waits for the records of failures: %s", told)
		}
		d.link.end(gateway.DrainingError())
		if told := d.told(); len(told) != 100 {
			t.Errorf("%d of 100 are answered", len(told))
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("records were made one after the other: %v", took)
		}
	})
}

func TestCallAfterTheServerEndedHadNoEffect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		w := &supervisor{up: d.pump.up, ctx: t.Context(), client: d.pump, hungUp: make(chan struct{})}
		go w.linger(candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
		pass(lingerQuiet / 2)
		d.client(gatewaytest.ToolCall(1, "work", `{}`))
		told := strings.Join(d.told(), "")
		if gatewaytest.CodeOf(told) != "UPSTREAM_GONE" || !strings.Contains(told, "The call had no effect.") || strings.Contains(told, "Check whether") {
			t.Errorf("told %s", told)
		}
		pass(lingerQuiet * lingerTimes) // until it has returned
	})
}

func TestInvalidArgumentsAreReportedThoughTheServerIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		d.client(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
		d.server(`{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"moor","inputSchema":{"type":"object","required":["berth"]}}]}}`)
		d.told()
		d.pump.finish(candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
		d.client(gatewaytest.ToolCall(1, "moor", `{}`))
		d.wantTold("INVALID_ARGUMENTS")
		d.client(gatewaytest.ToolCall(2, "moor", `{"berth":1}`))
		d.wantTold("UPSTREAM_GONE")
	})
}

func TestAnswersToNothingCannotFillTheLedger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		for range maxStrays + 500 {
			d.server(okay)
		}
		d.wantTold()
		d.wantEntries(map[string]int{"STRAY_ANSWER": maxStrays}, maxStrays)
	})
}

func TestTheExcerptOfAnAnswerToNothingIsShortAndWithoutSecrets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
		for _, before := range []int{10, gateway.MaxStrayBytes - 20, gateway.MaxNoiseScan - 100, 1 << 20} {
			d.server(`{"jsonrpc":"2.0","id":99,"result":{"text":"` + strings.Repeat("x ", before/2) + secret + `"}}`)
		}
		if len(d.books.Strays()) != 4 {
			t.Fatalf("%d entries", len(d.books.Strays()))
		}
		for _, said := range d.books.Strays() {
			if len(said) > gateway.MaxStrayBytes || !strings.HasPrefix(said, `{"jsonrpc"`) || strings.Contains(said, "ghp_0") {
				t.Errorf("of the answer are kept %d bytes: %s", len(said), said)
			}
		}
	})
}

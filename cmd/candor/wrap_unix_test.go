//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/testing/badserver"
)

func toolCall(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

// TestWrapExitsLikeServer checks that the exit of candor wrap shows its parent how the server ended.
func TestWrapExitsLikeServer(t *testing.T) {
	t.Parallel()
	p := launch(t, "wrap", "--", "badserver")
	p.say(toolCall("1", "exit"))
	if answer := p.hear(); !strings.Contains(answer, `"code":"UPSTREAM_GONE"`) || !strings.Contains(answer, `"exitCode":3`) {
		t.Errorf("answered %s", answer)
	}
	if code := p.ends(); code != 3 {
		t.Errorf("ended with %d: %s", code, p.said)
	}
	if codes := p.recorded(); codes["UPSTREAM_GONE"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}

// TestWrapInterruptAnswersOpenCalls checks that open calls are answered, the ledger is closed, and the last line reports it.
func TestWrapInterruptAnswersOpenCalls(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "wrap", "--", "badserver")
			p.say(toolCall("1", "hang"))
			p.said.await(badserver.Begun, 1)
			p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			if answer := p.hear(); answer != `{"jsonrpc":"2.0","id":2,"result":{}}` {
				t.Errorf("answered %s", answer)
			}
			p.signal(s)
			if answer := p.hear(); !strings.Contains(answer, `"id":1,`) || !strings.Contains(answer, `"code":"GATEWAY_DRAINING"`) {
				t.Errorf("answered %s", answer)
			}
			if code := p.ends(); code != term.ExitOK {
				t.Errorf("ended with %d", code)
			}
			if want := badserver.Begun + "\ncandor wrap: badserver: 2 calls, 1 failure (GATEWAY_DRAINING 1), recorded in " + p.trail + "\n"; p.said.String() != want {
				t.Errorf("it said %q, want %q", p.said, want)
			}
		})
	}
}

// TestWrapClosesLedgerIfReaderIsGone uses a client that exits with an answer unread, and checks that the ledger is closed.
func TestWrapClosesLedgerIfReaderIsGone(t *testing.T) {
	t.Parallel()
	p := launch(t, "wrap", "--", "badserver")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	p.hear()
	if err := p.out.Close(); err != nil {
		t.Fatal(err)
	}
	p.say(toolCall("2", "fail")) // the input stays open
	if code := p.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, p.said)
	}
	if codes := p.recorded(); codes["NOT_FOUND"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}

// TestWrapReportsReasonOfNPM checks that the message has the line with npm's reason, not its last line, which names a log file.
func TestWrapReportsReasonOfNPM(t *testing.T) {
	t.Parallel()
	const script = `printf 'npm error code E404\nnpm error 404 Not Found - GET https://npm.example/@acme%%2forders\nnpm error 404\nnpm error A complete log of this run can be found in: /home/me/.npm/x.log\n' >&2; exit 1`
	p := launch(t, "wrap", "--", "sh", "-c", script)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	const want = `"message":"The server exited with code 1 before it was ready: npm error 404 Not Found - GET https://npm.example/@acme%2forders"`
	if answer := p.hear(); !strings.Contains(answer, want) {
		t.Errorf("answered %s", answer)
	}
	p.ends()
}

// TestWrapReportsServerThatDoesNotStart checks that the client gets the exit status of the server and its last line without paths, and
// that standard error has the unchanged line. initialize is sent before the end of the server, and after it.
func TestWrapReportsServerThatDoesNotStart(t *testing.T) {
	const complaint = `echo "loading" >&2; echo "Error: Cannot find module '/srv/app/dist/index.js'" >&2; exit 1`
	for name, script := range map[string]string{"while it starts": "read line; " + complaint, "at once": complaint} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "wrap", "--", "sh", "-c", script)
			p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			answer := p.hear()
			for _, want := range []string{"The server exited with code 1 before it was ready: Error: Cannot find module", "Check the command", `"code":"UPSTREAM_GONE"`} {
				if !strings.Contains(answer, want) {
					t.Errorf("lacks %q: %s", want, answer)
				}
			}
			if strings.Contains(answer, "had its effect") || strings.Contains(answer, "/srv/app") {
				t.Errorf("answered %s", answer)
			}
			if code := p.ends(); code != 1 {
				t.Errorf("ended with %d", code)
			}
			if !strings.Contains(p.said.String(), "Error: Cannot find module '/srv/app/dist/index.js'\n") {
				t.Errorf("it said %s", p.said)
			}
		})
	}
}

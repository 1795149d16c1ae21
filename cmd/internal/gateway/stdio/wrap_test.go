package stdio

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/badserver"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// elsewhere lists the faults that are covered by separate tests.
var elsewhere = []string{"getenv", "say", "ask", "progress", "flood", "closed", "ignoreterm", "fork", "forkaway"}

func TestEveryFaultOfAServerGivesOneAnswerAndOneEntry(t *testing.T) {
	if got, want := len(badserver.Faults()), len(gatewaytest.FaultCodes)+len(elsewhere); got != want {
		t.Errorf("%d faults, %d are tested", got, want)
	}
	for fault, code := range gatewaytest.FaultCodes {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			short := map[string]time.Duration{}
			switch {
			case fault == "deaf":
				short["deaf"], short["echo"] = 300*time.Millisecond, 300*time.Millisecond
			case code == "CALL_TIMEOUT":
				short[fault] = 300 * time.Millisecond
			}
			s := wrapped(t, gateway.Options{Timeouts: short}, badChild())
			s.greet()
			pause := `{"ms":5}`
			if fault == "late" {
				pause = `{}` // it answers as soon as its call has been cancelled
			}
			s.call(1, fault, pause)
			s.call(2, "echo", `{"text":"others live"}`)
			told := 0
			for _, id := range []string{"1", "2"} {
				answer := s.answer(id)
				got := gatewaytest.CodeOf(answer)
				if got != "" {
					told++
				}
				if id == "1" && got != code {
					t.Errorf("%s, want %s: %.300s", got, code, answer)
				}
			}
			if fault == "late" {
				gatewaytest.Eventually(t, "the late answer", func() bool { return s.up.Late() == 1 })
			}
			_ = s.stdin.Close()
			for _, line := range s.rest() {
				if id, isAnswer := gatewaytest.IDOf(line); isAnswer {
					t.Errorf("%s was answered twice: %.200s", id, line)
				}
			}
			s.wait()
			s.books.CheckTotals(t, told)
		})
	}
}

// Servers that follow JSON-RPC 1.0 send both result and error, one of them null. A success is passed on unchanged. An answer that
// is rewritten anyway is sent without the null, which strict clients refuse.
func TestNullBesideResultOrErrorIsPassedOn(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "nullerror", `{}`)
	if got, want := s.answer("1"), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]},"error":null}`; got != want {
		t.Errorf("client gets %s, want %s", got, want)
	}
	s.call(2, "nullresult", `{}`)
	if got, want := s.answer("2"), `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"DISK_FULL: the disk is full\n`; !strings.HasPrefix(got, want) || strings.Contains(got, `"result"`) {
		t.Errorf("client gets %s, want it to begin with %s", got, want)
	}
	s.hangUp()
	s.books.CheckTotals(t, 1)
}

// In observe mode the client gets the same answers as without the gateway, except that unreadable ones are replaced.
func TestObserveReplacesOnlyUnreadableAnswers(t *testing.T) {
	for fault, want := range map[string]string{
		"both": `"result":{},"error":{"code":1,"message":"and an error"}}`, "baderror": `"error":"a text"}`, "twice": `"result":{},"result":{"content":[]}}`,
		"version": `{"id":1,"result":{}}`,
		"neither": "", "request": "", "batch": "", "deep": "", "utf8": "", "control": "",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := wrapped(t, gateway.Options{Mode: gateway.ModeObserve}, badChild())
			s.greet()
			s.call(1, fault, `{}`)
			answer := s.answer("1")
			if want != "" && !strings.HasSuffix(answer, want) {
				t.Errorf("%.300s was touched, want %s", answer, want)
			}
			if want == "" && gatewaytest.CodeOf(answer) != "UPSTREAM_MALFORMED" {
				t.Errorf("%.300s is no answer", answer)
			}
			s.hangUp()
			if entries, counts, _ := s.books.Totals(); entries != 1 || counts != 1 {
				t.Errorf("%d entries, %d counts", entries, counts)
			}
		})
	}
}

// TestTooLargeAnswerDoesNotOpenTheBreaker checks that such an answer does not count as a failure, because the server works.
func TestTooLargeAnswerDoesNotOpenTheBreaker(t *testing.T) {
	s := wrapped(t, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 1}}, badChild())
	s.greet()
	s.call(1, "huge", `{}`)
	if answer := s.answer("1"); gatewaytest.CodeOf(answer) != "TOO_LARGE" || !strings.Contains(answer, "ask for less") {
		t.Errorf("%.600s", answer)
	}
	s.call(2, "echo", `{"text":"others live"}`)
	if answer := s.answer("2"); gatewaytest.CodeOf(answer) != "" {
		t.Errorf("%.300s", answer)
	}
	s.hangUp()
}

func TestSignalOfAServerIsReported(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "killed", `{}`)
	if answer := s.answer("1"); !strings.Contains(answer, `"signal":"SIGKILL"`) {
		t.Error(answer)
	}
	if exit := s.wait(); exit.Code != 137 {
		t.Errorf("%+v", exit)
	}
}

func TestOpenRequestsAreAnsweredWhenTheServerEnds(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "exit", `{}`)
	padding := strings.Repeat("x", 8000) // exceeds the buffer of a pipe
	for id := 2; id <= 50; id++ {
		s.call(id, "echo", `{"text":"`+padding+`"}`)
	}
	s.wait()
	answered := 0
	for _, line := range s.rest() {
		if gatewaytest.CodeOf(line) == "UPSTREAM_GONE" {
			answered++
		}
	}
	if answered != 50 {
		t.Errorf("%d of 50 were answered", answered)
	}
	s.books.CheckTotals(t, 50)
}

func TestAClientThatHangsUpGetsItsOpenAnswers(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "late", `{"ms":300}`)
	_ = s.stdin.Close()
	if answer := s.answer("1"); gatewaytest.CodeOf(answer) != "" {
		t.Error(answer)
	}
	if exit := s.wait(); exit.Code != 0 || !exit.HungUp {
		t.Errorf("%+v", exit)
	}
}

// TestCallsOpenAtAHangUpAreCancelled checks that they are recorded as cancelled by the client and are not answered.
func TestCallsOpenAtAHangUpAreCancelled(t *testing.T) {
	child := badChild()
	child.Drain = 50 * time.Millisecond
	s := wrapped(t, gateway.Options{}, child)
	s.greet()
	s.call(1, "hang", `{}`)
	s.call(2, "echo", `{}`)
	s.answer("2")
	if exit := s.hangUp(); exit.Code != 0 || !exit.HungUp {
		t.Errorf("%+v", exit)
	}
	for _, line := range s.rest() {
		t.Errorf("answered %s", line)
	}
	if entries, counts, suppressed := s.books.Totals(); entries != 1 || counts != 1 || suppressed != 1 || s.books.ByCode()["CANCELLED"] != 1 {
		t.Errorf("%d entries, %d counts, %d suppressed: %v", entries, counts, suppressed, s.books.ByCode())
	}
}

func TestAServerThatIgnoresEveryWishIsKilled(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "ignoreterm", `{}`)
	s.answer("1")
	if exit := s.hangUp(); exit.Code != 0 || exit.Server.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

func TestACommandThatCannotBeStartedIsExplainedToTheClient(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]struct {
		code int
		hint string
	}{
		"no-such-command-anywhere": {127, "check the spelling"},
		"/no/such/file":            {127, "does not exist"},
		plain:                      {126, "make the file executable"},
	} {
		in, out := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n"), &bytes.Buffer{}
		exit, err := Wrap(t.Context(), gateway.New(gateway.Options{}), Streams{In: in, Out: out}, Child{Command: command})
		if answer := out.String(); !strings.Contains(answer, "could not be started: "+filepath.Base(command)) || !strings.Contains(answer, `"id":1`) || strings.Contains(answer, "/no/such") {
			t.Errorf("%s: answer %q", command, answer)
		}
		var start *StartError
		if !errors.As(err, &start) || !strings.Contains(err.Error(), want.hint) || exit.Code != want.code {
			t.Errorf("%s: %+v, %v", command, exit, err)
		}
	}
}

func TestStderrPassesAsItCame(t *testing.T) {
	child, seen := badChild(), &gatewaytest.LockedBuffer{}
	child.Stderr = seen
	s := wrapped(t, gateway.Options{}, child)
	s.greet()
	s.call(1, "crash", `{}`)
	s.wait()
	if !strings.Contains(seen.String(), "/home/somebody/src/server/main.go:12 +0x1d\nconnecting with password=hunter2secret failed\n") {
		t.Errorf("%q", seen)
	}
	child, seen = badChild(), &gatewaytest.LockedBuffer{}
	child.Stderr, child.RedactStderr = seen, true
	s = wrapped(t, gateway.Options{}, child)
	s.greet()
	s.call(1, "crash", `{}`)
	s.wait()
	if strings.Contains(seen.String(), "hunter2secret") || !strings.Contains(seen.String(), "goroutine 1 [running]:\n") {
		t.Errorf("%q", seen)
	}
}

func TestTheServersOwnQuestionsAndTheirAnswersPass(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(7, "ask", `{}`)
	for !strings.Contains(s.next(), "roots/list") {
	}
	s.send(`{"jsonrpc":"2.0","id":99,"result":{"never":"asked"}}`)
	s.send(`{ "id":1, "jsonrpc":"2.0" ,"result":{"roots":[],"big":9007199254740993}}`)
	if answer := s.answer("7"); !strings.Contains(answer, `{ \"id\":1, \"jsonrpc\":\"2.0\" ,\"result\":{\"roots\":[],\"big\":9007199254740993}}`) {
		t.Error(answer)
	}
}

func TestAClientThatClosesItsEarsEndsTheServer(t *testing.T) {
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _, _ = inR.Close(), inW.Close(), outW.Close() }()
	_ = outR.Close()
	done := make(chan Exit)
	go func() {
		exit, _ := Wrap(t.Context(), gateway.New(gateway.Options{}), Streams{In: inR, Out: outW}, badChild())
		done <- exit
	}()
	if _, err := inW.WriteString(gatewaytest.ToolCall(1, "echo", `{}`) + "\n"); err != nil {
		t.Fatal(err)
	}
	if exit := <-done; exit.Code != 0 || !exit.HungUp {
		t.Errorf("%+v", exit)
	}
}

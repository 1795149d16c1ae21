//go:build unix

package badserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// fault is one kind of misbehaviour.
type fault struct {
	do         func(*server, request)
	blocks     bool // no other input is read during the fault
	idempotent bool // the tool is declared idempotent
}

// Faults returns the names of all faults, sorted. "echo", "fail", "ask", "progress" and "changed" are not faults: they show that
// other calls still work.
func Faults() []string { return slices.Sorted(maps.Keys(faults)) }

var faults map[string]fault

// init fills the table. A literal would be an initialization cycle, because the functions use the table.
func init() { //nolint:funlen // one table
	faults = map[string]fault{
		"echo":     {do: func(s *server, r request) { s.write(text(r.ID, r.Params.Arguments.Text)) }},
		"fail":     {do: fail},
		"getenv":   {do: func(s *server, r request) { s.write(text(r.ID, os.Getenv(r.Params.Arguments.Text))) }},
		"flaky":    {do: flaky(), idempotent: true, blocks: true},
		"ask":      {do: ask},
		"progress": {do: progress},
		"changed": {do: func(s *server, r request) {
			s.write([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"))
			s.write(text(r.ID, "changed"))
		}},

		"exit":     {do: func(*server, request) { os.Exit(3) }, blocks: true},
		"exitzero": {do: func(*server, request) { os.Exit(0) }, blocks: true},
		"crash":    {do: crash, blocks: true},
		"killed":   {do: func(*server, request) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }, blocks: true},
		"half": {do: func(s *server, r request) {
			line := text(r.ID, "you will never read the end of this")
			s.write(line[:len(line)/2])
			os.Exit(4)
		}, blocks: true},
		"halfline": {do: func(s *server, r request) {
			line := text(r.ID, "you will never read the end of this")
			s.write(line[:len(line)/2])
		}, blocks: true},
		// hang never answers. late answers after ms milliseconds, or if ms is 0, when the call has been cancelled. Both report on stderr
		// that they have begun, so that a test can wait for it.
		"hang":   {do: func(*server, request) { fmt.Fprintln(os.Stderr, Begun) }},
		"deaf":   {do: func(*server, request) { hang() }, blocks: true},
		"mute":   {do: func(*server, request) { _ = os.Stdout.Close() }},
		"closed": {do: func(*server, request) { _ = os.Stdin.Close(); hang() }, blocks: true},
		"late": {do: func(s *server, r request) {
			fmt.Fprintln(os.Stderr, Begun)
			if pause(r); r.Params.Arguments.Ms == 0 {
				<-s.cancellation(string(r.ID))
			}
			s.write(text(r.ID, "late"))
		}},

		"noise": {do: noise},
		// raw prints the text, with $ID replaced by the id, directly before the answer, without a newline.
		"raw": {do: func(s *server, r request) {
			words := strings.ReplaceAll(r.Params.Arguments.Text, "$ID", string(r.ID))
			s.write(append([]byte(words), text(r.ID, "after it")...))
		}},
		// say prints the text, with $ID replaced by the id, and a newline. It sends no other answer, and ends the server if n is
		// 1.
		"say": {do: func(s *server, r request) {
			s.write([]byte(strings.ReplaceAll(r.Params.Arguments.Text, "$ID", string(r.ID)) + "\n"))
			if r.Params.Arguments.N == 1 {
				os.Exit(0)
			}
		}},
		"wrongid": {do: func(s *server, r request) {
			s.write(text(json.RawMessage(`"not-`+strconv.Itoa(os.Getpid())+`"`), "wrong"))
		}},
		"duplicate":  {do: func(s *server, r request) { s.write(text(r.ID, "first")); s.write(text(r.ID, "second")) }},
		"both":       {do: object(`,"result":{},"error":{"code":1,"message":"and an error"}`)},
		"nullerror":  {do: object(`,"result":{"content":[{"type":"text","text":"fine"}]},"error":null`)},
		"nullresult": {do: object(`,"result":null,"error":{"code":-32603,"message":"the disk is full"}`)},
		"neither":    {do: object(``)},
		"request":    {do: object(`,"method":"ping","result":{}`)},
		"version":    {do: func(s *server, r request) { s.write([]byte(`{"id":` + string(r.ID) + `,"result":{}}` + "\n")) }},
		"twice":      {do: object(`,"result":{},"result":{"content":[]}`)},
		"baderror":   {do: object(`,"error":"a text"`)},
		"nullid":     {do: func(s *server, r request) { s.write(text(json.RawMessage("null"), "to nobody")) }},
		"batch": {do: func(s *server, r request) {
			s.write(slices.Concat([]byte("["), bytes.TrimSpace(text(r.ID, "in a batch")), []byte("]\n")))
		}},
		"deep": {do: func(s *server, r request) {
			s.write(result(r.ID, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)))
		}},
		"utf8": {do: func(s *server, r request) {
			s.write(result(r.ID, "{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\xc0\x80\"}]}"))
		}},
		"control": {do: func(s *server, r request) {
			s.write(result(r.ID, "{\"content\":[{\"type\":\"text\",\"text\":\"\x00\x1b[31m\"}]}"))
		}},
		"bom": {do: func(s *server, r request) { s.write(append([]byte("\xef\xbb\xbf"), text(r.ID, "marked")...)) }},
		"crlf": {do: func(s *server, r request) {
			s.write(append(bytes.TrimSpace(text(r.ID, "ended as on another system")), '\r', '\n'))
		}},
		"huge": {do: huge},
		"hugenoise": {do: func(s *server, r request) {
			s.write(append(bytes.Repeat([]byte("x"), 32<<20), '\n'))
			s.write(text(r.ID, "after it"))
		}},
		"flood":       {do: flood},
		"slow":        {do: slow},
		"stderrflood": {do: stderrFlood},
		"secret":      {do: secret, blocks: true},
		"ignoreterm":  {do: ignoreTerm},
		"fork":        {do: fork(false)},
		"forkaway":    {do: fork(true)},
	}
}

// object answers with a message that has the given members after the id.
func object(members string) func(*server, request) {
	return func(s *server, r request) {
		s.write([]byte(`{"jsonrpc":"2.0","id":` + string(r.ID) + members + "}\n"))
	}
}

func fail(s *server, r request) {
	s.write(result(r.ID, `{"content":[{"type":"text","text":"Error: no such page: /nowhere"}],"isError":true}`))
}

// flaky fails every second time, with a retryable error.
func flaky() func(*server, request) {
	calls := 0
	return func(s *server, r request) {
		if calls++; calls%2 == 1 {
			s.write(result(r.ID, `{"content":[{"type":"text","text":"503 Service Unavailable. Retry after 1 second."}],"isError":true}`))
			return
		}
		s.write(text(r.ID, "at last"))
	}
}

// ask sends a request to the client, and answers with the response.
func ask(s *server, r request) {
	answer := make(chan json.RawMessage, 1)
	s.mu.Lock()
	s.asked++
	id := strconv.Itoa(s.asked)
	s.answers[id] = answer
	s.mu.Unlock()
	s.write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list"}` + "\n"))
	s.write(text(r.ID, string(bytes.TrimSpace(<-answer))))
}

// progress reports progress n times, every ms milliseconds, and then answers.
func progress(s *server, r request) {
	for i := range r.Params.Arguments.N {
		pause(r)
		s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n",
			r.Params.Meta.ProgressToken, i))
	}
	s.write(text(r.ID, "done"))
}

func crash(*server, request) {
	fmt.Fprint(os.Stderr, "panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 1 [running]:\nmain.main()\n"+
		"\t/home/somebody/src/server/main.go:12 +0x1d\nconnecting with password=hunter2secret failed\nexit status 2\n")
	os.Exit(2)
}

func secret(*server, request) {
	for range 3000 {
		fmt.Fprintln(os.Stderr, "token ghp_0123456789abcdefghijABCDEFGHIJ012345 was refused")
	}
	os.Exit(5)
}

func noise(s *server, r request) {
	s.write([]byte("Server listening on stdio\n\x1b[32mready\x1b[0m\n{\"level\":\"info\",\"msg\":\"a log line\"}\n[1,2,3]\n42\n\"text\"\n{\n"))
	for i := range r.Params.Arguments.N {
		s.write(fmt.Appendf(nil, "log line %d\n", i))
	}
	s.write(text(r.ID, "among noise"))
}

// huge answers with a line of n MiB; the default is 32.
func huge(s *server, r request) {
	n := r.Params.Arguments.N
	if n == 0 {
		n = 32
	}
	s.write(text(r.ID, strings.Repeat("0123456789abcdef", n<<16)))
}

// flood sends n notifications and then answers; the default is a million.
func flood(s *server, r request) {
	n := r.Params.Arguments.N
	if n == 0 {
		n = 1_000_000
	}
	block := bytes.Repeat([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}`+"\n"), 100)
	for range n / 100 {
		s.write(block)
	}
	s.write(text(r.ID, "after the flood"))
}

// slow answers one byte at a time.
func slow(s *server, r request) {
	line := text(r.ID, "slowly")
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range line {
		_, _ = s.out.Write(line[i : i+1])
		pause(r)
	}
}

func stderrFlood(s *server, r request) {
	block := bytes.Repeat([]byte("something to complain about, again and again\n"), 1000)
	for range 200 {
		_, _ = os.Stderr.Write(block)
	}
	s.write(text(r.ID, "after complaining"))
}

// ignoreTerm makes the server ignore signals and the end of its input.
func ignoreTerm(s *server, r request) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	s.mu.Lock()
	s.deaf = true
	s.mu.Unlock()
	s.write(text(r.ID, strconv.Itoa(os.Getpid())))
}

// fork starts a process that ignores signals and holds the server's files open, in the same group or in a new session. It answers
// with both process ids.
func fork(away bool) func(*server, request) {
	return func(s *server, r request) {
		cmd := exec.Command(os.Args[0]) //nolint:noctx // it is meant to be left behind
		cmd.Env = append(os.Environ(), Env+"=sleeper")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: away}
		if err := cmd.Start(); err != nil {
			s.write(text(r.ID, err.Error()))
			return
		}
		s.write(text(r.ID, fmt.Sprintf("%d %d", os.Getpid(), cmd.Process.Pid)))
	}
}

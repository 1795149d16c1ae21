package driver_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/wire"
)

// The test binary is also the server under test; this variable selects which one.
const personality = "DRIVE_TEST_SERVER"

// paceVariable has the factor for the times of the server.
const paceVariable = "DRIVE_TEST_PACE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		os.Exit(guard.Main(os.Args[2:]))
	}
	if assign := os.Getenv(prober); assign != "" {
		probeForks(assign)
	}
	if who := os.Getenv(personality); who != "" {
		os.Exit(serveStdio(who))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // most tests wait for a server that does not answer
	os.Exit(m.Run())
}

// prober makes the test binary run a probe of the forking server. Its value is the file for [forkedFile]. The test
// kills it.
const prober = "DRIVE_TEST_PROBER"

func probeForks(assign string) {
	o := quick(missing)
	o.Guard, o.Progress = []string{os.Args[0], "guard"}, func(int, int, string) { select {} }
	to := server("forks")
	to.Env = append(to.Env, forkedFile+"="+assign)
	_, err := driver.Drive(context.Background(), to, o)
	fmt.Fprintln(os.Stderr, "the probe has ended:", err)
	os.Exit(1)
}

// forkedFile is the variable with the file to which the forking server writes its process ids, its own first.
const forkedFile = "DRIVE_TEST_FORKED"

// reply returns the answer of a correct server, "" if there is none.
func reply(message []byte) string {
	m := wire.Parse(message, wire.Limits{})
	if batch, ok := m.SplitBatch(); ok {
		var all []string
		for _, unit := range batch {
			all = append(all, reply(unit))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	if m.Kind() == wire.KindMalformed {
		return `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no message"}}`
	}
	if m.Kind() != wire.KindRequest {
		return ""
	}
	result := func(text string) string { return `{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"result":` + text + `}` }
	switch string(m.Method()) {
	case "initialize":
		return result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"extensions":{"dev.candor/errors":{}}},"serverInfo":{"name":"good","version":"1.2"}}`)
	case "server/discover":
		return result(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"3"}}}`)
	case "ping":
		return result(`{}`)
	case "tools/list":
		if m.Params().Path("cursor").Is("two") {
			return result(`{"tools":[{"name":"write","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}]}`)
		}
		return result(`{"tools":[{"name":"read","description":"reads","inputSchema":{"type":"object","required":["path"]},"annotations":{"readOnlyHint":true},` +
			`"_meta":{"dev.candor/codes":["core.NOT_FOUND"]}}],"nextCursor":"two"}`)
	case "tools/call":
		return result(`{"content":[{"type":"text","text":"no such file"}],"isError":true}`)
	default:
		return `{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"error":{"code":-32601,"message":"unknown method"}}`
	}
}

// serveStdio plays a server over stdio. It is one long table of defects.
func serveStdio(who string) int {
	say := func(text string) {
		if text != "" {
			fmt.Println(text)
		}
	}
	pace, _ := strconv.Atoi(cmp.Or(os.Getenv(paceVariable), "1")) // 0 if a test has set something else
	later := func(d time.Duration, answer string) {
		time.AfterFunc(time.Duration(pace)*d, func() { say(answer) })
	}
	forked, calls, pending := 0, 0, ""
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	switch who {
	case "dies-at-start":
		fmt.Fprintln(os.Stderr, "no API key")
		return 3
	case "forks":
		forked = fork()
	case "flood":
		go func() {
			for {
				fmt.Println("chatter " + strings.Repeat("x", 2000))
			}
		}()
	case "banner":
		fmt.Println("Server listening on stdio")
	}
	asked := 0
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		m := wire.Parse(line, wire.Limits{})
		name, _ := m.Params().Path("name").Str()
		switch {
		case who == "mute":
		case strings.HasPrefix(who, "writers") && (m.MethodIs("tools/list") || m.MethodIs("tools/call")):
			say(writers(who, &m))
		case who == "deaf" && name == "read":
			say(reply(line))
			hang()
		case who == "crashes" && m.Kind() == wire.KindMalformed:
			fmt.Fprintln(os.Stderr, "panic: token=zz9secretzz9secretzz9 is wrong")
			return 2
		case who == "list-dies" && m.MethodIs("tools/list"):
			fmt.Fprintln(os.Stderr, "the database is locked")
			return 4
		case who == "list-fails" && m.MethodIs("tools/list"), who == "no-tools" && m.MethodIs("tools/list"):
			say(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"error":{"code":-32601,"message":"not now"}}`)
		case who == "no-tools" && m.MethodIs("initialize"):
			say(strings.Replace(reply(line), `"tools":{},`, "", 1))
		case who == "long" && m.MethodIs("tools/call"):
			say(strings.Replace(reply(line), "no such file", strings.Repeat(`\ud83d\ude00 \" é`, 1<<17), 1))
		case who == "dies-after" && name == "read":
			say(reply(line))
			return 5
		case who == "hangs" && name == "read", who == "hangs-whole" && name == "read":
			if who == "hangs-whole" {
				hang()
			}
		case who == "late" && name == "read":
			later(1500*time.Millisecond, reply(line))
		case who == "middling" && name == "read": // close to the shortest time that is distinguishable from an answer that crosses the cancellation
			later(400*time.Millisecond, reply(line))
		case who == "slow-at-first" && name == "read":
			calls++
			takes, answer := 400*time.Millisecond, strings.Replace(reply(line), "no such file", fmt.Sprint("call ", calls), 1)
			if calls == 1 {
				takes = 950 * time.Millisecond
			}
			later(takes, answer)
		case who == "forks" && name == "read":
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"forked":%d}}`, m.ID(), forked))
		case who == "talks" && m.MethodIs("tools/call"):
			note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"x"}}`
			say(note + "\n" + note + "\n" + reply(line) + "\ndebug: done\n" + note + "\n" + reply(line))
		case who == "crosses" && name == "read":
			pending = reply(line)
		case who == "crosses" && m.MethodIs("notifications/cancelled"):
			say(pending)
		case who == "noise" && m.MethodIs("tools/call"):
			fmt.Println("debug: called")
			fmt.Fprintln(os.Stderr, "warning in "+os.Getenv("HOME"))
			say(reply(line))
		case (who == "silent" || who == "late") && m.Kind() == wire.KindMalformed:
		case who == "no-ping" && m.MethodIs("ping"):
		case who == "wrong-ids" && m.MethodIs("tools/call"):
			say(`{"jsonrpc":"2.0","id":777777,"result":{"content":[]}}`)
		case who == "null-id" && m.MethodIs("tools/call"):
			say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)
		case who == "huge" && m.MethodIs("tools/call"):
			fmt.Print(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"result":{"text":"`)
			piece := strings.Repeat("x", 1<<20)
			for range 100 {
				fmt.Print(piece)
			}
			fmt.Println(`"}}`)
		case strings.HasPrefix(who, "repeats") && m.MethodIs("tools/call"):
			token, times := os.Getenv("API_TOKEN")+",", 60_000
			if who == "repeats-endlessly" {
				times *= 15
			}
			fmt.Println("tokens: " + strings.Repeat(token, 100))
			fmt.Fprintln(os.Stderr, strings.Repeat(token, 500))
			say(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"result":{"text":"` + strings.Repeat(token, times) + `"}}`)
		case who == "asks" && m.MethodIs("tools/call"):
			say(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}`)
			said, _ := lines.ReadString('\n')
			say(`{"jsonrpc":"2.0","id":"s2","method":"roots/list"}`)
			roots, _ := lines.ReadString('\n')
			say(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"result":{"said":[` + strings.TrimSpace(said) + `,` + strings.TrimSpace(roots) + `]}}`)
		case who == "environment" && m.MethodIs("tools/call"):
			dir, _ := os.Getwd()
			env, _ := json.Marshal(os.Environ())
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"env":%s,"dir":%q}}`, m.ID(), env, dir))
		default:
			say(reply(line))
		}
		if asked++; asked > 100000 {
			return 1
		}
	}
}

// hang blocks until the process is killed.
func hang() { time.Sleep(time.Duration(math.MaxInt64)) }

// fork leaves a grandchild that has left the process group and ignores SIGTERM.
func fork() (pid int) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	if os.Getenv("DRIVE_TEST_DEPTH") != "" {
		hang()
	}
	reconnect := exec.Command(os.Args[0])
	reconnect.Env = append(os.Environ(), "DRIVE_TEST_DEPTH=1")
	ownSession(reconnect)
	if err := reconnect.Start(); err != nil {
		os.Exit(9)
	}
	if assign := os.Getenv(forkedFile); assign != "" {
		_ = os.WriteFile(assign, fmt.Appendf(nil, "%d %d\n", os.Getpid(), reconnect.Process.Pid), 0o600)
	}
	return reconnect.Process.Pid
}

package serve_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/systrace"
	"github.com/candor-mcp/candor/wire"
)

var kills = flag.Int("kills", 10, "how many servers TestR1SigkillLosesNothingThatWasSent kills")

// TestR1SigkillLosesNothingThatWasSent kills servers while 16 goroutines make failing calls without pause, and compares the failures
// in their answers with the ledger.
func TestR1SigkillLosesNothingThatWasSent(t *testing.T) {
	t.Parallel()
	const callers, perFolder = 16, 10
	count, total := *kills, 0
	if testing.Short() {
		count = 3
	}
	for left := count; left > 0 && !t.Failed(); {
		home := t.TempDir()
		told := map[string]int{}
		for i := 1; i <= perFolder && left > 0; i++ {
			left--
			for _, ref := range killOne(t, home, callers) {
				told[ref]++
			}
			checkTold(t, home, told, i*callers)
		}
		total += len(told)
	}
	t.Logf("%d kills, %d envelopes received", count, total)
	if total < 2*count {
		t.Error("most servers died with their first word: this proves little")
	}
}

// killOne starts a server, keeps that many calls open, kills the server and returns the refs in the answers.
func killOne(t *testing.T, home string, callers int) (told []string) {
	t.Helper()
	p := stdio(t, home)
	p.answer(`"hello"`)
	open, ended := make(chan struct{}, callers), make(chan struct{})
	defer close(ended)
	go func() {
		for id := 1; ; id++ {
			select {
			case open <- struct{}{}:
			case <-ended:
				return
			}
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, call("fails"))
			if _, err := io.WriteString(p.in, line); err != nil {
				return // the server was killed
			}
		}
	}()
	for p.lines.Scan() {
		m := wire.Parse(p.lines.Bytes(), wire.Limits{})
		ref := refOf(&m)
		if m.Err() != nil {
			break // the server was killed while it wrote
		}
		if ref == "" {
			t.Errorf("an answer without an envelope: %s", m.Bytes())
		}
		if told = append(told, ref); len(told) == 1 {
			time.AfterFunc(time.Duration(rand.IntN(120_000))*time.Microsecond, func() { p.signal(syscall.SIGKILL) })
		}
		<-open
	}
	p.ended()
	return told
}

// checkTold checks that every ref that was sent is in the ledger once, and that the ledger has at most onTheWay more.
func checkTold(t *testing.T, home string, told map[string]int, onTheWay int) {
	t.Helper()
	refs := recorded(t, ledgerOf(home))
	for ref, times := range told {
		if times != 1 || refs[ref] != 1 {
			t.Errorf("%s was told %d times and is on record %d times", ref, times, refs[ref])
		}
	}
	for ref, times := range refs {
		if times != 1 || ref == "" {
			t.Errorf("%q is on record %d times", ref, times)
		}
	}
	if more := len(refs) - len(told); more > onTheWay {
		t.Errorf("%d failures are on record that nobody was told of, and at most %d were on their way", more, onTheWay)
	}
	verified(t, ledgerOf(home))
}

var sentRef = regexp.MustCompile(`\\"ref\\":\\"([^"\\]+)\\"`)

// TestR5EveryAnswerComesAfterItsSync traces the system calls of a server: the entry is written to the ledger, that file is synced,
// and only then is the failure sent.
func TestR5EveryAnswerComesAfterItsSync(t *testing.T) {
	t.Parallel()
	const failures = 100
	home := t.TempDir()
	trace := filepath.Join(home, "trace")
	cmd := command(t, home)
	if err := systrace.Wrap(cmd, trace); err != nil {
		t.Skip("strace is not installed")
	}
	cmd.Stdin = strings.NewReader(failingLines(failures))
	var printed bytes.Buffer
	cmd.Stderr = &printed
	out, err := cmd.Output()
	if strings.Contains(printed.String(), "ptrace") {
		t.Skipf("strace may not trace here: %s", printed.String())
	}
	if err != nil {
		t.Fatalf("%v: %s", err, printed.String())
	}
	if got := bytes.Count(out, []byte("\n")); got != failures {
		t.Errorf("%d answers to %d calls", got, failures)
	}
	calls, err := systrace.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	proven := 0
	for i, c := range calls {
		if !c.Says() {
			continue
		}
		m := sentRef.FindStringSubmatch(c.Args)
		if m == nil {
			t.Errorf("no ref in %s", c.Args)
			continue
		}
		if why := systrace.Unordered(calls[:i], "audit-log.jsonl", m[1], c.Began); why != "" {
			t.Errorf("the failure %s: %s", m[1], why)
		}
		proven++
	}
	if proven != failures {
		t.Errorf("%d failures in the trace, want %d", proven, failures)
	}
	t.Logf("%d failures, each sent after the sync of its entry, in %d calls", proven, len(calls))
}

// failingLines returns calls that fail in every possible way: in a tool, before a tool, and on malformed lines. They use the era
// without sessions, so that all can be sent at once.
func failingLines(n int) string {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	ways := []string{
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fails","arguments":{},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"panics","arguments":{},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fails","arguments":{"more":1},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"no_such_tool",` + meta + `}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"no/such/method","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":%d,"method":`,
	}
	var lines strings.Builder
	for id := range n {
		fmt.Fprintf(&lines, ways[id%len(ways)]+"\n", id)
	}
	return lines.String()
}

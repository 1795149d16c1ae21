package serve_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/systrace"
)

var kills = flag.Int("kills", 10, "how many servers TestR1SigkillLosesNothingThatWasSent kills")

func httpClient(callers int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
}

// TestR1SigkillLosesNothingThatWasSent kills servers while 16 callers fail without pause, and holds what the callers were told
// against what is on record.
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

// killOne starts a server, kills it and returns the refs that its callers were told.
func killOne(t *testing.T, home string, callers int) (told []string) {
	t.Helper()
	p, address := web(t, home)
	client := httpClient(callers)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var first sync.Once
	begun := make(chan struct{})
	var all sync.WaitGroup
	var strange atomic.Int64
	for range callers {
		all.Go(func() {
			for {
				m, err := post(ctx, client, address, "fails")
				if err != nil {
					return // it is dead
				}
				ref := refOf(&m)
				if ref == "" {
					if strange.Add(1) == 1 && m.Err() == nil {
						t.Errorf("an answer without an envelope: %s", m.Bytes())
					}
					return
				}
				mu.Lock()
				told = append(told, ref)
				mu.Unlock()
				first.Do(func() { close(begun) })
			}
		})
	}
	<-begun
	time.Sleep(time.Duration(rand.IntN(120_000)) * time.Microsecond)
	p.signal(syscall.SIGKILL)
	all.Wait()
	p.ended()
	return told
}

// checkTold asks that all that was told is on record once, and that no more is there than what was on its way when a server died.
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

// TestR5EveryAnswerComesAfterItsSync looks at a server from outside, call by call: the entry is written to the ledger, that file
// is synced, and only then does the failure go out.
func TestR5EveryAnswerComesAfterItsSync(t *testing.T) {
	t.Parallel()
	const failures = 100
	home := t.TempDir()
	trace := filepath.Join(home, "trace")
	cmd := command(t, "stdio", home)
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

// failingLines are calls that fail, each in one of all the ways there are: in a tool, before one, and on lines that are none. They
// are of the era without sessions, so that all can be sent at once.
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

package kaiza_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// tree returns the names in a folder with the content of files and the targets of links.
func tree(t testing.TB, dir string, but ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		for _, left := range but {
			if rel == left {
				return filepath.SkipDir
			}
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		found[rel] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			found[rel] += string(data)
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			found[rel] += to
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unlocked writes a report if the session is locked.
func (c *client) unlocked(name string) {
	c.t.Helper()
	if c.lockedBy() != "" {
		c.report(name)
	}
}

const plantedSecret = "the-planted-secret-of-nobody"

// swapper swaps folders, files and links while clients work. Each swap is reverted at once.
type swapper struct {
	p       *env
	outside string
}

func newSwapper(p *env) *swapper {
	s := &swapper{p: p, outside: filepath.Join(filepath.Dir(p.root), "outside")}
	for _, name := range []string{"d/a.txt", "d/only-outside.txt", "a.txt"} {
		full := filepath.Join(s.outside, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(plantedSecret+"\n"), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	p.write("d/a.txt", "0\n")
	p.write("e/b.txt", "0\n")
	return s
}

// aside replaces a name for a moment.
func (s *swapper) aside(name string, instead func(name string) error) {
	if os.Rename(name, name+".aside") != nil {
		return
	}
	if instead(name) == nil {
		_, _ = os.Stat(name) // access the replacement
		_ = os.Remove(name)
	}
	_ = os.Rename(name+".aside", name)
}

func (s *swapper) run(end <-chan struct{}) {
	link := func(to string) func(string) error {
		return func(name string) error { return os.Symlink(to, name) }
	}
	tricks := []func(){
		func() { s.aside(s.p.file("d"), link(filepath.Join(s.outside, "d"))) },
		func() { s.aside(s.p.file("d"), link("../../outside/d")) },
		func() { s.aside(s.p.file("d"), link("e")) },
		func() { s.aside(s.p.file("d/a.txt"), link(filepath.Join(s.outside, "a.txt"))) },
		func() { s.aside(s.p.file("d/a.txt"), link("../../../outside/a.txt")) },
		func() {
			s.aside(s.p.file("d/a.txt"), func(name string) error { return os.Link(filepath.Join(s.outside, "a.txt"), name) })
		},
		func() { s.aside(s.p.file("d/a.txt"), func(name string) error { return os.Mkdir(name, 0o700) }) },
		func() { s.aside(s.p.work, link(s.outside)) },
	}
	for i := 0; ; i++ {
		select {
		case <-end:
			return
		default:
			tricks[i%len(tricks)]()
		}
	}
}

// TestRacesStayInsideTheWorkspace runs eight clients while a swapper replaces their files by links to the outside.
func TestRacesStayInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := newSwapper(p)
	plan := p.approved(`"**"`)
	before := tree(t, s.outside)
	w := p.listen()
	clients := make([]*client, 8)
	for i := range clients {
		clients[i] = []func() *client{w.stateful, w.stateless}[i%2]()
		clients[i].begin("WINDSURF")
	}
	end := make(chan struct{})
	var swapping, working sync.WaitGroup
	swapping.Go(func() { s.run(end) })
	var done atomic.Int64
	for i, c := range clients {
		working.Go(func() {
			for round := range 4 {
				done.Add(int64(c.rummage(plan, fmt.Sprintf("%d-%d", i, round))))
			}
		})
	}
	working.Wait()
	close(end)
	swapping.Wait()
	if done.Load() == 0 {
		t.Error("in all the turmoil not one call got through, so that nothing was tried")
	}
	if after := tree(t, s.outside); !maps.Equal(before, after) {
		t.Errorf("outside there was %v and is %v", before, after)
	}
	w.stateful().begin("ANTIGRAVITY")
	p.verify()
}

// rummage makes all calls that a session can make in d, returns the number of successes, and searches the answers for
// the secret.
func (c *client) rummage(plan, name string) (worked int) {
	look := func(a answer) answer {
		if text := string(a.m.Bytes()); strings.Contains(text, plantedSecret) || strings.Contains(text, "only-outside") {
			c.t.Errorf("it leads outside: %s", text)
		}
		switch code := a.code(); code {
		case "":
			worked++
		case "INTERNAL_ERROR", "UNKNOWN_TOOL_FAILURE":
			c.t.Errorf("%s: %s", code, a.m.Bytes())
		case "SESSION_LOCKED":
			c.call("write_file", args{"path": "docs/reports/" + name + "-" + strconv.Itoa(worked) + ".md", "content": "It was not me."})
		}
		return a
	}
	read := look(c.call("read_file", args{"path": "d/a.txt"}))
	look(c.call("write_file", args{"path": "d/a.txt", "content": name + "\n", "plan_hash": plan, "previous_hash": hashOf(read.text("content", 0, "text"))}))
	look(c.call("write_file", args{"path": "d/new-" + name + ".txt", "content": name, "plan_hash": plan, "make_dirs": true}))
	now := look(c.call("read_file", args{"path": "d/a.txt"})).text("content", 0, "text")
	look(c.call("apply_patch", args{"patch": "--- a/d/a.txt\n+++ b/d/a.txt\n@@ -1 +1 @@\n-" + now + "+x" + now, "plan_hash": plan}))
	look(c.call("list_dir", args{"path": ".", "depth": 4}))
	look(c.call("list_dir", args{"path": "d"}))
	look(c.call("search_files", args{"pattern": "planted.secret"}))
	return worked
}

// TestHostileLinesAreAnsweredOnceOrNotAtAll sends invalid lines. The line after the expected answers must be the answer
// to the next valid request.
func TestHostileLinesAreAnsweredOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	status := `"method":"tools/call","params":{"name":"session_status","arguments":{}}`
	read := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"read_file","arguments":` + arguments + `}}`
	}
	deep := strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)
	next := 0
	for line, answers := range map[string]int{
		`null`: 1, `[]`: 1, `[null]`: 1, `true`: 1, `7`: 1, `"text"`: 1, `{}`: 1, `{`: 1, `}`: 1, "\x00": 1, "\xff\xfe": 1, `{"jsonrpc":"2.0"}`: 1,
		"": 0, " ": 0, "\r": 0,
		`[{"jsonrpc":"2.0","id":1,` + status + `},{"jsonrpc":"2.0","id":2,` + status + `}]`:    1, // a batch
		`{"jsonrpc":"2.0","id":null,` + status + `}`:                                           1,
		`{"jsonrpc":"2.0","id":"text",` + status + `}`:                                         1,
		`{"jsonrpc":"2.0","id":"",` + status + `}`:                                             1,
		`{"jsonrpc":"2.0","id":-7,` + status + `}`:                                             1,
		`{"jsonrpc":"2.0","id":0,` + status + `}`:                                              1,
		`{"jsonrpc":"2.0","id":1.5,` + status + `}`:                                            1,
		`{"jsonrpc":"2.0","id":1e999,` + status + `}`:                                          1,
		`{"jsonrpc":"2.0","id":9007199254740993,` + status + `}`:                               1,
		`{"jsonrpc":"2.0","id":123456789012345678901234567890,` + status + `}`:                 1,
		`{"jsonrpc":"2.0","id":{"a":1},` + status + `}`:                                        1,
		`{"jsonrpc":"2.0","id":[1],` + status + `}`:                                            1,
		`{"jsonrpc":"2.0","id":true,` + status + `}`:                                           1,
		`{"jsonrpc":"2.0","id":1,"id":2,` + status + `}`:                                       1,
		`{"jsonrpc":"1.0","id":1,` + status + `}`:                                              1,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 1<<20) + `",` + status + `}`:           1,
		`{"jsonrpc":"2.0","id":"lone \ud800",` + status + `}`:                                  1,
		read(`{"path":"src/hello.txt","path":"src/none"}`):                                     1,
		read(`{"path":"src/\ud800.txt"}`):                                                      1,
		read("{\"path\":\"src/\xff.txt\"}"):                                                    1,
		read(deep):                                                                             1,
		read(`{"path":` + deep + `}`):                                                          1,
		read(`{"path":"` + strings.Repeat("x/", 1<<19) + `"}`):                                 1,
		read(`{"path":"src/hello.txt"` + strings.Repeat(`,"k":1`, 50_000) + `}`):               1,
		`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 1<<20) + `"}`:               1,
		strings.Repeat("x", 17<<20):                                                            1, // longer than the maximum line
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`: 0,
		`{"jsonrpc":"2.0",` + status + `}`:                                                     0, // a notification, because it lacks an id
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                                 0, // a response without a request
	} {
		s.Write(line)
		shown := line[:min(len(line), 90)]
		for range answers {
			if m := s.Read(); !m.Error().Present() && !m.Result().Present() {
				t.Errorf("%q is answered with %s", shown, m.Bytes())
			}
		}
		next++
		s.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"next-%d",%s}`, next, status))
		if m := s.Read(); string(m.ID()) != fmt.Sprintf(`"next-%d"`, next) || m.Error().Present() {
			t.Fatalf("after %q comes %.300s", shown, m.Bytes())
		}
	}
	if code := s.End(); code != 0 {
		t.Errorf("it ended with %d and said %s", code, &s.Stderr)
	}
	p.verify()
}

// TestHostileBodiesAreRefused posts similar bodies over HTTP.
func TestHostileBodiesAreRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.listen()
	good := w.stateless()
	good.begin("WINDSURF")
	for _, body := range []string{
		``, `null`, `[]`, `[null]`, `7`, `"text"`, `{`, "\xff\xfe", "\x00", strings.Repeat(`[`, 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat(" ", 5<<20),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"` + strings.Repeat("x", 5<<20) + `"}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"session_status","arguments":{"session_id":"` + good.session + `"}}}`,
	} {
		for _, headers := range [][]string{{"Mcp-Protocol-Version", "2025-11-25"}, {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "read_file"}} {
			m, _ := w.post(body, headers...)
			if m.Result().Present() || !m.Error().Present() {
				t.Errorf("%.60q is answered with %.300q", body, m.Bytes())
			}
		}
	}
	good.call("session_status", args{}).fine()
	p.verify()
}

const manyClients, fewCounters = 64, 16

// crowd is a number of clients on one workspace, with a count of their failed calls.
type crowd struct {
	p      *env
	plan   string
	failed atomic.Int64
}

// one is the work of each client: it writes a separate file, makes a failing call, and increments a counter shared with
// others.
func (k *crowd) one(c *client, n int) {
	try := func(tool string, in args) answer {
		a := c.call(tool, in)
		if a.code() != "" {
			k.failed.Add(1)
		}
		return a
	}
	own, counter := fmt.Sprintf("src/own-%d.txt", n), fmt.Sprintf("src/counter-%d.txt", n%fewCounters)
	try("read_file", args{"path": own}).is("FILE_NOT_FOUND")
	for written := false; !written; { // the lock of the workspace may be busy for longer than one call waits
		a := try("write_file", args{"path": own, "content": own, "plan_hash": k.plan})
		if written = a.code() == ""; !written {
			a.is("AUDIT_LOCK_FAILED")
		}
	}
	for {
		read := try("read_file", args{"path": counter})
		read.fine()
		was := strings.TrimSpace(read.text("content", 0, "text"))
		count, err := strconv.Atoi(was)
		if err != nil {
			c.t.Errorf("the counter is %q", was)
			return
		}
		add, in := "write_file", args{"path": counter, "content": fmt.Sprintln(count + 1), "previous_hash": read.text("structuredContent", "hash"), "plan_hash": k.plan}
		if n%2 == 1 {
			add, in = "apply_patch", args{"patch": fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%d\n+%d\n", counter, counter, count, count+1), "plan_hash": k.plan}
		}
		switch a := try(add, in); a.code() {
		case "":
			return
		case "HASH_MISMATCH", "PATCH_APPLY_FAILED", "AUDIT_LOCK_FAILED":
		default:
			c.t.Errorf("adding one: %s", a.m.Bytes())
			return
		}
	}
}

// TestManyClientsLoseNothing runs the clients concurrently over HTTP, with and without protocol sessions: every call
// gets one answer, all increments are kept, and the failures that clients saw are those recorded and counted.
func TestManyClientsLoseNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for i := range fewCounters {
		p.write(fmt.Sprintf("src/counter-%d.txt", i), "0\n")
	}
	k := &crowd{p: p, plan: p.approved("src/**")}
	w := p.listen()
	var working sync.WaitGroup
	for n := range manyClients {
		working.Go(func() {
			c := []func() *client{w.stateful, w.stateless}[n/2%2]()
			c.begin("WINDSURF")
			k.one(c, n)
		})
	}
	working.Wait()
	for i := range fewCounters {
		if got, _ := p.read(fmt.Sprintf("src/counter-%d.txt", i)); got != fmt.Sprintln(manyClients/fewCounters) {
			t.Errorf("a counter of %d stands at %q", manyClients/fewCounters, got)
		}
	}
	for n := range manyClients {
		if got, _ := p.read(fmt.Sprintf("src/own-%d.txt", n)); got != fmt.Sprintf("src/own-%d.txt", n) {
			t.Errorf("file %d holds %q", n, got)
		}
	}
	stats := w.stateful().ask("sys/errorStats", "{}")
	total := stats.Result().Path("total")
	if entries := p.recorded(ledger.KindFailure); int64(entries) != k.failed.Load() || string(total.Raw()) != fmt.Sprint(entries) {
		t.Errorf("clients saw %d failures, %d are recorded and %s are counted", k.failed.Load(), entries, total.Raw())
	}
	p.verify()
}

package kaiza_test

import (
	"encoding/base64"
	"encoding/json"
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

// tree returns what is in a folder: a line for each name, with the content of files and the targets of links.
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

// swapper is somebody who moves folders, files and links about while others work. Each trick is undone at once.
type swapper struct {
	p       *place
	outside string
}

func newSwapper(p *place) *swapper {
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

// aside puts something else in the place of a name for a moment.
func (s *swapper) aside(name string, instead func(name string) error) {
	if os.Rename(name, name+".aside") != nil {
		return
	}
	if instead(name) == nil {
		_, _ = os.Stat(name) // somebody looks
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

// TestRacesLeadNobodyOut has eight clients at work while somebody swaps what they work on for what lies outside.
func TestRacesLeadNobodyOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
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
			for round := range 7 {
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

// rummage does everything that a session can do in d, returns how much of it worked, and looks for the secret in the answers.
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

// TestHostileLinesAreAnsweredOnceOrNotAtAll sends what no client should send. The answer to the next good line must be the next line.
func TestHostileLinesAreAnsweredOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.executor()
	status := `"method":"tools/call","params":{"name":"session_status","arguments":{}}`
	read := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"read_file","arguments":` + arguments + `}}`
	}
	deep := strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)
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
		strings.Repeat("x", 17<<20):                                                            1, // beyond what a line may be
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`: 0,
		`{"jsonrpc":"2.0",` + status + `}`:                                                     0, // a notification by its form
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                                 0, // an answer to nothing
	} {
		s.say(line)
		shown := line[:min(len(line), 90)]
		for range answers {
			if m := s.hear(); !m.Error().Present() && !m.Result().Present() {
				t.Errorf("%q is answered with %s", shown, m.Bytes())
			}
		}
		s.next++
		s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"next-%d",%s}`, s.next, status))
		if m := s.hear(); string(m.ID()) != fmt.Sprintf(`"next-%d"`, s.next) || m.Error().Present() {
			t.Fatalf("after %q comes %.300s", shown, m.Bytes())
		}
	}
	if code := s.end(); code != 0 {
		t.Errorf("it ended with %d and said %s", code, s.said)
	}
	p.verify()
}

// TestHostileBodiesAreRefused posts the same over HTTP.
func TestHostileBodiesAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
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

// crowd is many clients on one workspace, and how many of their calls have failed.
type crowd struct {
	p      *place
	plan   string
	failed atomic.Int64
}

// one is what each client does: it writes a file of its own, fails, and adds one to a counter that it shares with others.
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

// TestManyClientsLoseNothing has them all at once over HTTP, in both eras: every call has one answer, no addition is lost, and the failures that
// clients saw are those that were recorded and counted.
func TestManyClientsLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
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

// hostilePlans must not be stored.
var hostilePlans = map[string]string{
	"climbs":             planText("../**"),
	"climbs in braces":   planText(`"{src,..}/**"`),
	"climbs in a class":  planText(`"src/[.][.]/../x"`),
	"absolute":           planText("/etc/**"),
	"home":               planText("~/x"),
	"drive":              planText(`"c:/x"`),
	"backslash":          planText(`src\..\x`),
	"plans":              planText("docs/plans/**"),
	"plans in case":      planText("Docs/PLANS/x.md"),
	"plans, dotted":      planText("docs./plans/x.md"),
	"negated":            planText(`"!src/**"`),
	"control":            planText("\"src/\\u0007**\""),
	"escape":             "---\ntitle: \x1b[2J\x1b[1;1HHarmless\nscope: [src/**]\n---\nx\n",
	"bidi":               planText("\"src/\u202e**\""),
	"zero width":         planText("s\u200brc/**"),
	"two documents":      "---\ntitle: a\nscope: [a]\n---\n---\ntitle: b\nscope: ['**']\n---\n" + "\x00",
	"duplicate":          "---\ntitle: a\nscope: [src/**]\nscope: ['**']\n---\nx\n",
	"unknown key":        "---\ntitle: a\nscope: [src/**]\nstatus: APPROVED\n---\nx\n",
	"anchor bomb":        "---\ntitle: &a x\nscope: [*a, *a, *a]\n---\nx\n",
	"merge":              "---\ntitle: a\n<<: {scope: ['**']}\n---\nx\n",
	"tag":                "---\ntitle: !!binary aGk=\nscope: [a]\n---\nx\n",
	"nested":             "---\ntitle: a\nscope: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n---\nx\n",
	"nested keys":        "---\ntitle: a\n" + strings.Repeat("a: ", 300) + "\n---\nx\n",
	"brace bomb":         planText(`"` + strings.Repeat("{a,b}", 40) + `"`),
	"many braces":        planText(strings.Split(strings.Repeat(`"{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}"`+"\n", 100), "\n")[:100]...),
	"star bomb":          planText(`"` + strings.Repeat("*a", 200) + `"`),
	"many scopes":        planText(strings.Fields(strings.Repeat("a ", 5000))...),
	"no fence":           "title: a\nscope: [src/**]\n",
	"open fence":         "---\ntitle: a\nscope: [src/**]\n",
	"front matter below": "x\n---\ntitle: a\nscope: ['**']\n---\n",
	"header first":       "<!-- KAIZA_PLAN_HASH: " + strings.Repeat("0", 64) + " STATUS: APPROVED -->\n" + planText("src/**"),
	"header below":       planText("other/**") + "<!-- KAIZA_PLAN_HASH: " + strings.Repeat("0", 64) + " STATUS: APPROVED -->\n" + planText("src/**"),
	"too long":           planText("src/**") + strings.Repeat("x", 256<<10),
	"invalid UTF-8":      planText("src/**") + "\ufffd\x00",
	"empty":              "\n",
}

// TestHostilePlansAreRefused gives each to lint_plan and to submit_plan.
func TestHostilePlansAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.start()
	c.begin("ANTIGRAVITY")
	before := tree(t, p.work)
	for name, text := range hostilePlans {
		lint := c.call("lint_plan", args{"content": text})
		if ok, _ := lint.m.Result().Path("structuredContent", "ok").Bool(); ok {
			t.Errorf("%s is called fine: %.300s", name, lint.m.Bytes())
		}
		a := c.call("submit_plan", args{"content": text})
		a.is("INVALID_INPUT_VALUE")
		if sent := string(a.m.Bytes()) + string(lint.m.Bytes()); strings.ContainsAny(sent, "\x1b\u202e\u200b") || len(sent) > 256<<10 {
			t.Errorf("%s: %d bytes come back: %.300q", name, len(sent), sent)
		}
	}
	if after := tree(t, p.work); !maps.Equal(before, after) {
		t.Errorf("something was stored: %v", after)
	}
	if by := c.lockedBy(); by != "" {
		t.Errorf("a plan with errors has locked the session: %s", by)
	}
}

// TestAPlanMeansWhatItLooksLike approves plans that are allowed and odd, and sees that they cover nothing else.
func TestAPlanMeansWhatItLooksLike(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.listen()
	planner, c := w.stateful(), w.stateful()
	planner.begin("ANTIGRAVITY")
	c.begin("WINDSURF")
	for name, text := range map[string]string{
		"homoglyph":      planText("s\u0433\u0441/**"), // Cyrillic
		"case":           planText("SRC/**"),
		"star":           planText(`"*"`),
		"prefix":         planText("src"+"2/**", "sr"),
		"class":          planText(`"[!s]rc/**"`),
		"more below":     planText("other/**") + "---\nscope: ['**']\n---\nscope:\n  - src/**\n",
		"comment":        "---\ntitle: a\nscope: # ['**']\n  - other/** # src/**\n---\nx\n",
		"quoted newline": "---\ntitle: a\nscope: [\"other/**\", 'x y']\n---\nx\n",
		"double star":    planText(`"**.md"`),
	} {
		hash := planner.submit(text)
		p.approve(hash)
		for i, path := range []string{"src/new.txt", "docs/plans/x.md"} {
			c.call("write_file", args{"path": path, "content": "x", "plan_hash": hash}).is("PLAN_SCOPE_VIOLATION")
			c.report(fmt.Sprintf("%s-%d.md", strings.ReplaceAll(name, " ", "-"), i))
		}
	}
	if _, there := p.read("src/new.txt"); there {
		t.Error("a plan has covered what it does not name")
	}
}

// changes is a patch of one line of a file.
func changes(name string) string {
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1,2 +1,2 @@\n-hello\n+gone\n world\n", name, name)
}

// hostilePatches must change nothing.
func hostilePatches(p *place) map[string]string {
	create := func(name string) string { return "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n" }
	remove := func(name string) string {
		return "--- a/" + name + "\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-hello\n-world\n"
	}
	git := func(name, more string) string { return "diff --git a/" + name + " b/" + name + "\n" + more }
	hello := "src/hello.txt"
	return map[string]string{
		"up": create("../x.txt"), "up inside": create("src/../x.txt"), "absolute": create(filepath.Join(filepath.Dir(p.root), "x.txt")), "etc": changes("/etc/passwd"),
		"plain absolute": "--- /etc/hostname\n+++ /etc/hostname\n@@ -1 +1 @@\n-x\n+y\n", "quoted": create(`"b/\056\056/x.txt"`), "quoted up": "--- /dev/null\n+++ \"b/\\056\\056/x\"\n@@ -0,0 +1 @@\n+x\n",
		"quoted NUL": "--- /dev/null\n+++ \"b/x\\000y\"\n@@ -0,0 +1 @@\n+x\n", "root": changes("."), "folder": changes("src"), "empty name": "--- a/\n+++ b/\n@@ -1 +1 @@\n-x\n+y\n",
		"null to null": "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n", "null as a name": "--- a/dev/null\n+++ b/dev/null\n@@ -1 +1 @@\n-x\n+y\n", "device": create("/dev/full"),
		"delete outside": remove("../outside.txt"), "delete by link": remove("link"), "change by link": changes("link"), "create by link": create("out/x.txt"), "create over link": create("link"),
		"create over a file": create(hello), "create over a folder": create("src"), "create below a file": create(hello + "/x"), "delete what is not there": remove("src/none.txt"),
		"delete by half": "--- a/" + hello + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n",
		"rename":         git(hello, "rename from "+hello+"\nrename to x.txt\n"), "copy": git(hello, "copy from "+hello+"\ncopy to x.txt\n"), "binary": git(hello, "GIT binary patch\nliteral 1\nA\n\n"),
		"symlink": git("x", "new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"), "submodule": git("x", "new file mode 160000\n"),
		"executable": git("x", "new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"), "mode": git(hello, "old mode 100644\nnew mode 100777\n"),
		"two names": "--- a/" + hello + "\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n-hello\n+gone\n world\n", "other git name": "diff --git a/x b/x\n" + changes(hello) + changes("../x"),
		"twice": changes(hello) + changes(hello), "twice in disguise": changes(hello) + changes("./"+hello), "twice by slashes": changes("src//hello.txt") + changes(hello),
		"twice, absolute":  changes(hello) + "--- " + p.file(hello) + "\n+++ " + p.file(hello) + "\n@@ -1,2 +1,2 @@\n-hello\n+gone\n world\n",
		"made and removed": create("new.txt") + remove("new.txt"), "file and folder": create("new") + create("new/x"), "good then bad": create("new.txt") + changes("src/none.txt"),
		"CR LF": strings.ReplaceAll(changes(hello), "\n", "\r\n"), "CR": strings.ReplaceAll(changes(hello), "\n", "\r"), "NUL": "\x00" + changes(hello),
		"counts": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ -1,99999999 +1,99999999 @@\n-hello\n+x\n", "big numbers": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ -99999999999999999999 +1 @@\n-hello\n+x\n",
		"negative": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ --1,2 +1,2 @@\n-hello\n+x\n", "far": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ -90000000 +90000000 @@\n-hello\n+x\n",
		"many hunks": "--- a/" + hello + "\n+++ b/" + hello + "\n" + strings.Repeat("@@ -1 +1 @@\n-hello\n+x\n", 40_000), "context bomb": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ -1,500000 +1,500001 @@\n+x\n" + strings.Repeat(" \n", 500_000),
		"many files": strings.Repeat(create("x"), 100), "one long line": "--- a/" + hello + "\n+++ b/" + hello + "\n@@ -1 +1 @@\n-" + strings.Repeat("h", 1<<20-100) + "\n+x\n", "only header": "--- a/x\n+++ b/x\n",
		"plans": create("docs/plans/" + strings.Repeat("0", 64) + ".md"), "git's own": "", "backslash": create(`..\x.txt`), "bidi": create("src/\u202etxt.x"), "newline": "--- /dev/null\n+++ \"b/x\\ny\"\n@@ -0,0 +1 @@\n+x\n",
	}
}

// TestHostilePatchesChangeNothing gives each to apply_patch and to write_file, under a plan that covers everything.
func TestHostilePatchesChangeNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	plan := p.approved(`"**"`)
	outside := filepath.Join(filepath.Dir(p.root), "outside.txt")
	if err := os.WriteFile(outside, []byte("hello\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": outside, "out": filepath.Dir(outside)} {
		if err := os.Symlink(to, p.file(link)); err != nil {
			t.Fatal(err)
		}
	}
	c := p.executor()
	before := tree(t, filepath.Dir(p.root), "state", "root/work/docs/reports")
	for name, patch := range hostilePatches(p) {
		for tool, in := range map[string]args{
			"apply_patch": {"patch": patch, "plan_hash": plan},
			"write_file":  {"path": "src/none.txt", "patch": patch, "plan_hash": plan},
		} {
			a := c.call(tool, in)
			if code := a.code(); code == "" || code == "INTERNAL_ERROR" || code == "INVARIANT_VIOLATION" {
				t.Errorf("%s to %s: %.400s", name, tool, a.m.Bytes())
			}
			if text := string(a.m.Bytes()); strings.Contains(text, "root:") || len(text) > 64<<10 {
				t.Errorf("%s: %d bytes come back: %.300q", name, len(text), text)
			}
			c.unlocked(strings.ReplaceAll(name, " ", "-") + "-" + tool + ".md")
		}
	}
	if err := os.RemoveAll(p.file("docs/reports")); err != nil {
		t.Fatal(err)
	}
	after := tree(t, filepath.Dir(p.root), "state", "root/work/docs/reports")
	for name := range after {
		if before[name] != after[name] {
			t.Errorf("%s was %.100q and is %.100q", name, before[name], after[name])
		}
	}
	if len(before) != len(after) {
		t.Errorf("there were %d names and are %d", len(before), len(after))
	}
	c.stop()
	p.verify()
}

// TestASecretInPiecesIsSeenWhenItIsWhole writes one in several steps, each harmless.
func TestASecretInPiecesIsSeenWhenItIsWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	plan := p.approved("src/**")
	c := p.executor()
	head, tail := "see ghp_Zq7", "Tx2Lm9Rb4Vd6Ny1Wk8Hs3Gp5Jf0Cu7Xe2Aa"
	c.call("write_file", args{"path": "src/a.txt", "content": head + "\n", "plan_hash": plan}).fine()
	for i, whole := range []func() answer{
		func() answer {
			return c.call("apply_patch", args{"plan_hash": plan, "patch": "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-" + head + "\n+" + head + tail + "\n"})
		},
		func() answer {
			return c.call("write_file", args{"path": "src/a.txt", "content": head + tail, "previous_hash": c.hash("src/a.txt"), "plan_hash": plan})
		},
		func() answer {
			escaped, _ := json.Marshal(head + tail)
			raw := strings.ReplaceAll(string(escaped), "ghp_", `\u0067\u0068p\u005f`)
			return c.call("write_file", args{"path": "src/b.txt", "content": json.RawMessage(raw), "plan_hash": plan})
		},
		func() answer {
			return c.call("write_file", args{"path": "src/c.txt", "content": base64.StdEncoding.EncodeToString([]byte(head + tail)), "encoding": "base64", "plan_hash": plan})
		},
	} {
		a := whole()
		a.is("POLICY_VIOLATION")
		if strings.Contains(string(a.m.Bytes()), tail) {
			t.Errorf("the answer holds it: %s", a.m.Bytes())
		}
		c.report(fmt.Sprintf("%d.md", i))
	}
	if got, _ := p.read("src/a.txt"); got != head+"\n" {
		t.Errorf("the file holds %q", got)
	}
}

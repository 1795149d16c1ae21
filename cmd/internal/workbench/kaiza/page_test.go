package kaiza_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcript in docs/kaiza.md")

const (
	page       = "../../../../docs/kaiza.md"
	pageBegin  = "<!-- transcript: go test ./cmd/internal/workbench/kaiza -run Page -update -->\n```console\n"
	pageEnd    = "```\n<!-- end of the transcript -->"
	pageFolder = "/home/me/projects/site"
)

// narrator writes a transcript in which values that differ between runs are replaced by names.
type narrator struct {
	strings.Builder
	p     *env
	names map[string]string
}

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{20}\b|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z`)

var (
	chains  = regexp.MustCompile(`([a-z]+)-\d{8}T\d{9}Z-[0-9a-f]{8}(/\d+)?`)
	numbers = regexp.MustCompile(`\b\d+( entries| covered| by a witness copy)`) // the number of checkpoints varies
	clocks  = regexp.MustCompile(`\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3} [+-]\d{2}:\d{2}`)
)

// steady replaces ids, refs, times and the number of checkpoints.
func (n *narrator) steady(text string) string {
	text = strings.ReplaceAll(text, n.p.work, pageFolder)
	text = chains.ReplaceAllString(text, "$1-chain")
	text = numbers.ReplaceAllString(text, "N$1")
	text = clocks.ReplaceAllString(text, "2026-01-02 03:04:05.000 +00:00")
	return changing.ReplaceAllStringFunc(text, func(found string) string {
		kind := "ref"
		switch {
		case strings.Contains(found, "T"):
			return "2026-01-02T03:04:05.000Z"
		case strings.Contains(found, "-"):
			kind = "session"
		}
		if n.names[found] == "" {
			count := 1
			for _, name := range n.names {
				if strings.HasPrefix(name, kind) {
					count++
				}
			}
			n.names[found] = fmt.Sprintf("%s-%d", kind, count)
		}
		return n.names[found]
	})
}

func (n *narrator) say(format string, a ...any) {
	n.WriteString(n.steady(fmt.Sprintf(format, a...)) + "\n")
}

// calls makes a call and writes it to the transcript: the message of a failure, or selected members of a success.
func (n *narrator) calls(who string, c *client, tool, said string, in args, show ...string) answer {
	a := c.call(tool, in)
	n.say("%s → %s %s", who, tool, said)
	if code := a.code(); code != "" {
		text := a.text("content", 1, "text")
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if i == 0 {
				n.say("  ← %s", line)
			} else if !strings.HasPrefix(line, "Ref:") {
				n.say("    %s", line)
			}
		}
		return a
	}
	var told []string
	for _, name := range show {
		told = append(told, name+" "+string(a.m.Result().Path("structuredContent", name).Raw()))
	}
	n.say("  ← %s", strings.Join(append([]string{"fine"}, told...), ", "))
	return a
}

// command runs candor and writes its output to the transcript.
func (n *narrator) command(shown string, line ...string) {
	out, code := n.p.candor(line...)
	n.say("$ candor %s", shown)
	n.WriteString(n.steady(out))
	if code != 0 {
		n.say("(exit code %d)", code)
	}
}

// exportedKey exports the public key for an auditor and returns its file.
func (p *env) exportedKey() string {
	p.t.Helper()
	name := filepath.Join(filepath.Dir(p.root), "auditor.pub")
	if out, code := p.candor("ledger", "key", "export", p.ledgerDir(), "--out", name); code != 0 {
		p.t.Fatal(out)
	}
	return name
}

// TestPageTranscriptIsCurrent runs the example of docs/kaiza.md and compares the transcript with the page.
func TestPageTranscriptIsCurrent(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	n := &narrator{p: p, names: map[string]string{}}
	const plan = "---\ntitle: Greet the user\nscope:\n  - src/**\n---\n# Why\n\nThe program says nothing when it starts.\n"

	planner := &p.start().client
	n.calls("planner", planner, "begin_session", `{"workspace_root":"`+p.work+`","role":"ANTIGRAVITY"}`,
		args{"workspace_root": p.work, "role": "ANTIGRAVITY"}, "session_id", "role", "locked")
	a := n.calls("planner", planner, "submit_plan", "(a plan whose scope is src/**)", args{"content": plan}, "plan_hash", "approved")
	hash := a.text("structuredContent", "plan_hash")
	short := hash[:12]
	planner.stop()

	executor := &p.start().client
	n.say("")
	n.calls("executor", executor, "begin_session", `{"workspace_root":"`+p.work+`","role":"WINDSURF"}`,
		args{"workspace_root": p.work, "role": "WINDSURF"}, "session_id", "role", "locked")
	write := func(path, content string) args { return args{"path": path, "content": content, "plan_hash": hash} }
	n.calls("executor", executor, "write_file", `{"path":"src/greeting.txt","content":"Hello!\n","plan_hash":"`+short+`…"}`, write("src/greeting.txt", "Hello!\n"))

	n.say("\nA person looks at the plan and approves it:\n")
	n.command("workbench approve "+short, "workbench", "approve", short, "--root", p.work, "--state", p.state, "--yes", "--by", "me")

	n.say("\nThe same call again, then one that the plan does not cover:\n")
	n.calls("executor", executor, "write_file", `{"path":"src/greeting.txt","content":"Hello!\n","plan_hash":"`+short+`…"}`, write("src/greeting.txt", "Hello!\n"), "files")
	n.calls("executor", executor, "write_file", `{"path":"deploy.sh","content":"…","plan_hash":"`+short+`…"}`, write("deploy.sh", "rm -rf build\n"))
	n.calls("executor", executor, "write_file", `{"path":"src/more.txt","content":"…","plan_hash":"`+short+`…"}`, write("src/more.txt", "more\n"))
	n.calls("executor", executor, "read_file", `{"path":"src/greeting.txt"}`, args{"path": "src/greeting.txt"}, "hash")
	n.calls("executor", executor, "write_file", `{"path":"docs/reports/deploy.md","content":"I tried to change …"}`,
		args{"path": "docs/reports/deploy.md", "content": "I tried to change deploy.sh, which the plan does not cover."}, "unlocked")
	n.calls("executor", executor, "write_file", `{"path":"src/more.txt","content":"…","plan_hash":"`+short+`…"}`, write("src/more.txt", "more\n"), "files")
	executor.stop()

	n.say("\nAnd an auditor, later, with the key that was exported before:\n")
	const trail = "~/.local/state/candor/workbench/kaiza/ledger"
	n.command("ledger verify "+trail+" --key auditor.pub", "ledger", "verify", p.ledgerDir(), "--key", p.exportedKey())
	n.command("ledger tail "+trail+" --kind failure", "ledger", "tail", p.ledgerDir(), "--kind", "failure")
	compare(t, n.String())
}

// compare compares the transcript with the page.
func compare(t *testing.T, transcript string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), pageBegin)
	written, tail, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the transcript")
	}
	if written == transcript {
		return
	}
	if !*update {
		t.Fatalf("docs/kaiza.md tells another story; -update writes this one:\n%s", transcript)
	}
	if err := os.WriteFile(page, []byte(head+pageBegin+transcript+pageEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

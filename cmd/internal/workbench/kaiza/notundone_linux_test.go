package kaiza_test

import (
	"os"
	"strings"
	"testing"
)

// killedMidway kills a server in the middle of a change.
func killedMidway(p *env) *midway {
	p.t.Helper()
	m := newMidway(p)
	m.Kill()
	p.eventually("the check is gone with its server", func() bool { return gone(m.check) })
	return m
}

// TestAnInterruptedChangeIsListedAndUndoneFirst lists and undoes after a kill, without a server: the interrupted change
// comes first, and the older, complete change is not affected until the next undo.
func TestAnInterruptedChangeIsListedAndUndoneFirst(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	s.call("write_file", args{"path": "src/a.txt", "content": "a\n", "plan_hash": p.approved("src/**")}).fine()
	s.End()
	killedMidway(p)
	list, _ := p.changes()
	if len(list) != 2 || list[0].State != "interrupted" || list[0].CanUndo || list[0].Files[0].Path != "src/hello.txt" || list[1].State != "" || !list[1].CanUndo {
		t.Errorf("the changes are %+v", list)
	}
	if out := p.undo(0, "--dry-run"); !strings.Contains(out, "interrupted") || !strings.Contains(out, "src/hello.txt") || strings.Contains(out, "src/a.txt") {
		t.Errorf("a dry run says %s", out)
	}
	p.holds("src/hello.txt", "midway\n")
	if out := p.undo(0); !strings.Contains(out, "interrupted") || strings.Contains(out, "src/a.txt") {
		t.Errorf("undo says %s", out)
	}
	p.holds("src/hello.txt", hello)
	p.holds("src/a.txt", "a\n")
	p.undo(0)
	p.holds("src/a.txt", "-")
	p.atRest(1)
	p.verify()
}

// TestASecondNameDoesNotKeepAnInterruptedChange creates hard links, like a backup, before the next start. The start
// undoes the change, and the hard link keeps its content.
func TestASecondNameDoesNotKeepAnInterruptedChange(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	m := killedMidway(p)
	second := p.root + "/backup"
	p.must(os.Link(p.file("src/hello.txt"), second))
	s := p.start()
	m.undone()
	if data, err := os.ReadFile(second); err != nil || string(data) != "midway\n" {
		t.Errorf("the second name holds %q: %v", data, err)
	}
	p.atRest(1)
	s.End()
	p.verify()
}

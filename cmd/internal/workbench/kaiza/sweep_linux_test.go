package kaiza_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// sweepStep is 1 in make crash and 61 in .ci/run torture. The default tests fewer points, and one disk for each effect.
var sweepStep = flag.Int("sweep", defaultSweep, "TestR21ReportedResultMatchesTheDisk makes every so many-th file system call fail")

const defaultSweep = 181

// disk is a way in which a disk fails, starting with the n-th of the calls that it concerns.
type disk struct {
	name     string
	errno    syscall.Errno
	concerns func(c ioCall) bool
	stays    bool // all later calls fail, too; otherwise only the n-th
}

var disks = []disk{
	{"one error", syscall.EIO, func(ioCall) bool { return true }, false},
	{"full from there on", syscall.ENOSPC, func(c ioCall) bool { return c.Grows }, true},
	{"read-only from there on", syscall.EROFS, func(c ioCall) bool { return c.Changes }, true},
}

// fails returns the plan of a disk that fails at the n-th call.
func (d disk) fails(n int) faultPlan {
	seen := 0
	return func(c ioCall) int {
		if !d.concerns(c) {
			return 0
		}
		if seen++; seen == n || d.stays && seen > n {
			return int(d.errno)
		}
		return 0
	}
}

// effect is an operation that is repeated while the disk fails.
type effect struct {
	name  string
	role  string
	flags func(p *env) []string
	setUp func(s *sweep, n int)        // runs before the n-th operation, with a working disk
	call  func(s *sweep, n int) answer // makes the n-th operation through a tool
	run   func(s *sweep, n int) []string
	after func(s *sweep, n int, a outcome)
	stood func(s *sweep, n int) string // state afterwards: done, notDone, or a description
	mark  func(s *sweep, n int) string // text that identifies it in the trail
	tool  string                       // tool of its entries in the trail

	restore func(s *sweep) // runs before the final check and restores files that setUp moved
}

// outcome is the reported result of an effect.
type outcome struct {
	answer        // answer of a tool
	told   string // done, notDone or unknown
	text   string
	failed []ioCall
}

// Reported and actual results of an effect. An open effect is reserved in the trail but not completed.
const (
	open    = "open"
	done    = "done"
	notDone = "not done"
	unknown = "unknown"
)

// said returns the result that an answer reports to a client.
func said(a answer) string {
	e := a.canonical()
	message, _ := e.Path("message").Str()
	switch {
	case a.code() == "", e.Path("details", "effect").Is(done):
		return done
	case e.Path("details", "effect").Is("none"):
		return notDone
	case e.Path("details", "effect").Is(unknown), strings.Contains(message, "that could not be written to the trail"):
		return unknown
	}
	return notDone
}

// sweep tests one effect with each disk: the disk of the server fails at one call after another. Each operation has a
// number made of the failing call and the disk, so that their files are distinct.
type sweep struct {
	t     *testing.T
	p     *env
	e     effect
	d     disk
	plan  string
	c     *stdio
	f     *injector
	codes map[string][]string // codes that each tool declares

	told   map[int]string
	found  map[int]string // results that cannot be checked again
	marks  map[int]string // marks in the trail that are known only afterwards
	points int
	vague  int // number of operations with an unknown result
}

// start starts the server under the injector.
func (s *sweep) start() {
	s.t.Helper()
	var flags []string
	if s.e.flags != nil {
		flags = s.e.flags(s.p)
	}
	s.c = s.p.prepare(flags...)
	if err := s.c.StartWith(func(cmd *exec.Cmd) (err error) {
		s.f, err = startFaulty(cmd, filepath.Dir(s.p.root), nil)
		return err
	}); err != nil {
		s.t.Skipf("no filter of system calls can be installed here: %v", err)
	}
	s.c.Initialize()
	if s.codes == nil {
		s.codes = map[string][]string{}
		list := s.c.ask("tools/list", `{}`)
		for tool := range list.Result().Path("tools").Elements() {
			name, _ := tool.Path("name").Str()
			for code := range tool.Path("_meta", "dev.candor/codes").Elements() {
				symbol, _ := code.Str()
				s.codes[name] = append(s.codes[name], symbol[strings.LastIndexAny(symbol, "/.:")+1:])
			}
		}
	}
	if s.e.role != "" {
		s.c.begin(s.e.role)
	}
}

// end stops the server like a client.
func (s *sweep) end() {
	s.c.End()
	s.f.Close()
}

// calm waits until the server works again, and writes a report if the session is locked.
func (s *sweep) calm() {
	s.t.Helper()
	if s.e.role == "" {
		return
	}
	s.p.eventually("the server works again", func() bool { return s.c.call("session_status", args{}).code() == "" })
	for i := 0; s.c.lockedBy() != ""; i++ {
		if i == 3 {
			s.t.Fatal("a report does not unlock the session")
		}
		s.c.call("write_file", args{"path": fmt.Sprintf("docs/reports/calm-%d-%d.md", len(s.told), i), "content": "It was the disk."})
	}
}

// perDisk is larger than the number of calls of any effect.
const perDisk = 1_000_000

// point makes the disk fail at one call. It reports whether the effect made that many calls.
func (s *sweep) point(call int) bool {
	s.t.Helper()
	n := call + perDisk*slices.IndexFunc(disks, func(d disk) bool { return d.name == s.d.name })
	s.calm()
	if s.e.setUp != nil {
		s.e.setUp(s, n)
	}
	o := s.perform(n)
	if s.e.after != nil {
		s.e.after(s, n, o)
	}
	told, failed, stood, trail := o.told, o.failed, s.e.stood(s, n), s.trail(n)
	s.told[n] = told
	if len(failed) == 0 {
		if told != stood {
			s.t.Errorf("without a fault it is told as %s and is %s: %s", told, stood, o.text)
		}
		return false
	}
	s.points++
	where := fmt.Sprintf("%s at %s %s", s.d.errno, failed[0].Name, strings.TrimPrefix(failed[0].Path, filepath.Dir(s.p.root)))
	where += ", " + s.d.name
	switch {
	case told == unknown && s.d.stays:
		s.vague++
	case told == done && stood == done && trail == open && s.d.stays && strings.Contains(o.text, "the trail does not say how it ended"):
		s.vague++
	case told != stood, trail != "" && told != trail && (told != notDone || trail != open):
		s.t.Errorf("point %d, %s: it is told as %s, is %s, and the trail says %s: %s", n, where, told, stood, trail, o.text)
	}
	if s.e.call == nil {
		return true
	}
	if code := o.code(); code != "" && !slices.Contains(s.codes[s.e.tool], code) {
		s.t.Errorf("point %d, %s: %s is not declared by %s", n, where, code, s.e.tool)
	}
	if again := o.canonical().Path("retry", "kind"); told != notDone && again.Present() && !again.Is("not_retryable") {
		s.t.Errorf("point %d, %s: the effect is %s, and the caller is told to try again: %s", n, where, told, o.text)
	}
	return true
}

// perform runs the effect while the disk fails.
func (s *sweep) perform(n int) (o outcome) {
	s.t.Helper()
	if s.e.call != nil {
		s.f.arm(s.d.fails(n % perDisk))
		o.answer = s.e.call(s, n)
		_, o.failed = s.f.disarm()
		o.told, o.text = said(o.answer), string(o.m.Bytes())
		return o
	}
	s.p.ledger = filepath.Join(filepath.Dir(s.p.root), fmt.Sprintf("trail-%d", n)) // a new trail, so that each command makes the same calls
	cmd := exec.Command(binary, append(s.e.run(s, n), "--root", s.p.work, "--state", s.p.state, "--ledger", s.p.ledger, "--yes", "--json")...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	f, err := startFaulty(cmd, filepath.Dir(s.p.root), s.d.fails(n%perDisk))
	if err != nil {
		s.t.Fatal(err)
	}
	err = cmd.Wait()
	f.Close()
	_, o.failed = f.disarm()
	o.told, o.text = notDone, both.String()
	if err == nil {
		o.told = done
	} else if strings.Contains(o.text, "had to be undone, and could not be") {
		o.told = unknown
	}
	if left, _ := filepath.Glob(filepath.Join(s.p.state, "workspaces", "*", "changes", "*", "journal.json")); len(left) > 0 {
		s.p.start("--ledger", s.p.ledger).End() // only a server with this trail can determine the result
	}
	return o
}

// trail returns the result of the n-th effect according to the trail, or "" if the effect has no entries.
func (s *sweep) trail(n int) string {
	if s.e.mark == nil {
		return ""
	}
	if _, err := os.Stat(s.p.ledgerDir()); err != nil {
		return notDone // it was never created
	}
	mark, out := s.e.mark(s, n), notDone
	for _, e := range s.p.entries() {
		if e.Tool != s.e.tool || !strings.Contains(string(e.Data)+e.PlanHash, mark) {
			continue
		}
		switch {
		case e.Kind == ledger.KindReserve:
			out = open
		case e.Kind != ledger.KindComplete:
		case out == done:
			return "first done and then " + string(e.Outcome)
		case e.Outcome == ledger.OutcomeOK:
			out = done
		default:
			out = notDone
		}
	}
	return out
}

// run continues until the effect ends before the disk fails, then restarts the server and checks all results again.
func (s *sweep) run() {
	s.t.Helper()
	step := *sweepStep
	if testing.Short() {
		step *= 4
	}
	s.start()
	for i, d := range disks {
		if *sweepStep == defaultSweep && i != slices.IndexFunc(swept, func(e effect) bool { return e.name == s.e.name })%len(disks) {
			continue
		}
		s.d = d
		s.points, s.vague = 0, 0
		for call := 1; s.point(call) && (!s.t.Failed() || s.points <= 400); call += step {
		}
		if s.points == 0 {
			s.t.Errorf("%s, %s: no call failed", s.e.name, s.d.name)
		}
		s.t.Logf("%s, %s: %d fault points, in %d it could not be said what became of the effect", s.e.name, s.d.name, s.points, s.vague)
	}
	s.calm()
	s.end()
	if s.e.restore != nil {
		s.e.restore(s)
	}
	s.c = s.p.start() // recovers interrupted changes
	if s.e.role != "" {
		s.c.begin(s.e.role)
	}
	defer s.c.End()
	for n, told := range s.told {
		if stood := s.e.stood(s, n); told != unknown && stood != told || stood != done && stood != notDone {
			s.t.Errorf("point %d: it was told as %s, and after a restart it is %s", n, told, stood)
		}
	}
	s.p.ledger = ""
	s.p.verify()
}

// holds returns the content of a file, or "nothing" if it does not exist.
func (s *sweep) holds(name string) string {
	content, there := s.p.read(name)
	if !there {
		return "nothing"
	}
	return content
}

// TestR21ReportedResultMatchesTheDisk makes the disk fail at every file system call of every effect: once, and permanently as
// full and as read-only. Answer, files and trail agree immediately and after a restart.
func TestR21ReportedResultMatchesTheDisk(t *testing.T) {
	t.Parallel()
	for _, e := range swept {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			s := &sweep{t: t, p: p, e: e, told: map[int]string{}, found: map[int]string{}, marks: map[int]string{}, plan: p.approved("src/**")}
			s.run()
		})
	}
}

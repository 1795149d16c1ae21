package kaiza_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

var kills = flag.Int("kills", 3, "how many servers TestK19AKillLosesNothingThatWasAnswered kills; .ci/run torture kills 20")

// heard collects the answers to the clients of all servers.
type heard struct {
	refs     []string       // references of failures
	written  []string       // files that were reported as written
	statuses map[string]int // number of status calls by session
}

// TestK19AKillLosesNothingThatWasAnswered kills servers at random moments while they write, refuse and answer. All
// answered calls are recorded, and every file matches the trail.
func TestK19AKillLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	count := *kills
	p := newEnv(t)
	plan := p.approved("src/**")
	told := &heard{statuses: map[string]int{}}
	for turn := range count {
		s := p.start()
		session, hash := s.begin("WINDSURF"), s.hash("src/hello.txt")
		last := 20 + rand.IntN(60) // a count rather than a time, so that the test also works on a slow machine
		for _, a := range s.flood(1<<20, func(i int) string {
			if i == last {
				time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { _ = s.Cmd.Process.Signal(syscall.SIGKILL) })
			}
			return busy(turn, i, hash, plan)
		}) {
			told.hear(a, session)
		}
		s.Kill()
	}
	p.start().End() // recovers the changes of the last server
	p.verify()
	told.onRecord(p)
	p.asTheTrailSays()
	p.atRest(-1)
	t.Logf("%d kills, %d failures and %d files answered", count, len(told.refs), len(told.written))
	if len(told.refs) < count || len(told.written) < count {
		t.Error("most servers died with their first word: this proves little")
	}
}

// busy returns the i-th call to a server: the first replaces a file, the others cycle through several tools.
func busy(turn, i int, hash, plan string) string {
	arguments, tool := args{}, "session_status"
	switch name := fmt.Sprintf("src/%d-%d.txt", turn, i); {
	case i == 0:
		tool, arguments = "write_file", args{"path": "src/hello.txt", "content": name, "previous_hash": hash, "plan_hash": plan}
	case i%3 == 1:
		tool, arguments = "write_file", args{"path": name, "content": name, "plan_hash": plan}
	case i%3 == 2:
		tool, arguments = "read_file", args{"path": "none"}
	}
	params, _ := json.Marshal(args{"name": tool, "arguments": arguments}) // strings can always be encoded
	return string(params)
}

func (h *heard) hear(a answer, session string) {
	switch file := a.text("structuredContent", "files", 0, "path"); {
	case a.code() != "":
		h.refs = append(h.refs, a.ref())
	case file != "":
		h.written = append(h.written, file)
	default:
		h.statuses[session]++
	}
}

// onRecord compares the answers with the trail.
func (h *heard) onRecord(p *env) {
	p.t.Helper()
	failures, exits, statuses, done := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range p.entries() {
		switch {
		case e.Kind == ledger.KindFailure:
			failures[e.Ref]++
		case e.Kind == ledger.KindExit && e.Ref != "":
			exits[e.Ref]++
		case e.Kind == ledger.KindExit && e.Tool == "session_status":
			statuses[e.SessionID]++
		case e.Kind == ledger.KindComplete && e.Outcome == ledger.OutcomeOK:
			for _, f := range filesOf(p.t, e) {
				done[f.Path]++
			}
		}
	}
	for _, ref := range h.refs {
		if failures[ref] != 1 || exits[ref] != 1 {
			p.t.Errorf("the failure %s was answered, and %d failures and %d exits are on record", ref, failures[ref], exits[ref])
		}
	}
	for _, name := range h.written {
		if done[name] == 0 {
			p.t.Errorf("%s was told to be written, and no completion is on record", name)
		}
	}
	for session, n := range h.statuses {
		if statuses[session] < n {
			p.t.Errorf("%d statuses were answered, and %d are on record", n, statuses[session])
		}
	}
}

type changedFile struct {
	Path  string `json:"path"`
	After string `json:"after"`
}

// filesOf returns the files of a completion.
func filesOf(t testing.TB, e ledger.Record) []changedFile {
	t.Helper()
	var data struct {
		Value struct {
			Files []changedFile `json:"files"`
		} `json:"value"`
	}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
	}
	return data.Value.Files
}

// asTheTrailSays checks that each file in src has the content of its last completion, and that there are no other files.
func (p *env) asTheTrailSays() {
	p.t.Helper()
	want, got := map[string]string{"src/hello.txt": hashOf("hello\nworld\n")}, map[string]string{}
	for _, e := range p.completions() {
		if e.Outcome != ledger.OutcomeOK {
			continue
		}
		for _, f := range filesOf(p.t, e) {
			want[f.Path] = f.After
		}
	}
	names, err := os.ReadDir(p.file("src"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(p.file("src"), name.Name()))
		if err != nil {
			p.t.Fatal(err)
		}
		got["src/"+name.Name()] = hashOf(string(content))
	}
	if !maps.Equal(want, got) {
		for name := range got {
			if want[name] != got[name] {
				p.t.Errorf("%s is not as the trail says", name)
			}
		}
		p.t.Errorf("the trail knows %d files, and there are %d", len(want), len(got))
	}
}

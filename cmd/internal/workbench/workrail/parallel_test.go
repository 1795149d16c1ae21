package workrail_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

// call is one call of a tool.
type call struct {
	tool string
	in   args
}

// pipeline sends calls without waiting and returns their answers, in the order of the calls.
func (s *server) pipeline(calls []call) []answer {
	s.T.Helper()
	arriving := make([]<-chan mcpclient.Answer, len(calls))
	for i, c := range calls {
		arriving[i] = s.Send("tools/call", servertest.CallParams(s.T, c.tool, c.in))
	}
	answers := make([]answer, len(calls))
	for i := range calls {
		m, err := s.Await(arriving[i])
		if err != nil {
			s.T.Fatal(err)
		}
		answers[i] = answer{servertest.Answer{T: s.T, M: &m}}
	}
	return answers
}

// TestW10ParallelCallsOfOneClientShareASession checks that one of them is recorded, the others get the record, and none
// fails with a lock.
func TestW10ParallelCallsOfOneClientShareASession(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.begin("plain", nil)
	id := a.data("sessionId")
	for step := range 10 {
		var calls []call
		for i := range 8 {
			calls = append(calls, call{"continue_workflow", args{"continueToken": a.token(), "notes": fmt.Sprint(i)}},
				call{"resume_session", args{"sessionId": id}}, call{"session_health", args{"sessionId": id}})
		}
		recorded := 0
		for _, b := range s.pipeline(calls) {
			b.fine()
			if kind := b.data("health", "kind"); kind != "" && kind != "healthy" {
				t.Errorf("step %d: the session is %s", step, kind)
			}
			if b.data("step", "path") == "" && b.data("kind") != "completed" || b.M.Result().Path("structuredContent", "health").Present() {
				continue
			}
			if done, _ := b.M.Result().Path("structuredContent", "completedSteps").Int64(); done == int64(step)+1 && !b.M.Result().Path("structuredContent", "replay").Present() {
				recorded++
				a = b
			}
		}
		if recorded == 0 {
			t.Fatalf("step %d was not recorded", step)
		}
		if got := len(s.steps(id)); got != step+1 {
			t.Fatalf("%d steps are recorded, want %d", got, step+1)
		}
	}
	a.kind("completed")
}

// TestOpenSessionsAreListedByTheirLastChange checks that at most twenty are listed, and no completed ones.
func TestOpenSessionsAreListedByTheirLastChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	first := s.begin("plain", nil)
	ended := s.begin("plain", nil)
	s.walk(ended, 10).kind("completed")
	for range 21 {
		s.begin("plain", nil)
	}
	manifests, err := filepath.Glob(p.manifest("*"))
	if err != nil || len(manifests) != 23 {
		t.Fatalf("%d manifests, %v", len(manifests), err)
	}
	for _, name := range manifests { // a file system has ticks of some milliseconds
		at := time.Now().Add(-time.Hour)
		if strings.Contains(name, ended.data("sessionId")) {
			at = at.Add(-time.Hour)
		}
		if err := os.Chtimes(name, time.Time{}, at); err != nil {
			t.Fatal(err)
		}
	}
	s.walk(first, 1)
	list := s.call("resume_session", args{}).fine()
	if n, older := list.M.Result().Path("structuredContent", "sessions").Len(), list.M.Result().Path("structuredContent", "older"); n != 20 || string(older.Raw()) != "3" {
		t.Errorf("%d are listed, %s are older, want 20 and 3", n, older.Raw())
	}
	if got := list.data("sessions", 0, "sessionId"); got != first.data("sessionId") {
		t.Errorf("the first is %s, want %s", got, first.data("sessionId"))
	}
}

// TestExportIsBounded exports a damaged session of large events.
func TestExportIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a := s.begin("plain", nil)
	for range 9 {
		a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": strings.Repeat("n", 65536), "output": strings.Repeat("o", 200_000)}).fine()
	}
	id := a.data("sessionId")
	whole := s.call("export_session", args{"sessionId": id}).fine()
	p.write(p.segments(id)[0], "")
	left := s.call("export_session", args{"sessionId": id}).fine()
	for name, b := range map[string]answer{"whole": whole, "damaged": left} {
		if n := len(b.M.Bytes()); n > 3<<19 {
			t.Errorf("the export of the %s session has %d bytes", name, n)
		}
		text, _ := b.M.Result().Path("content", 0, "text").Str()
		if !strings.Contains(text, "sessions/"+id) {
			t.Errorf("%s: the text does not say where the rest is: %.200s", name, text)
		}
	}
	if n := left.M.Result().Path("structuredContent", "doubtful").Len(); n == 0 {
		t.Error("nothing of the damaged session is shown")
	}
}

package workrail_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// TestW18AKillLosesNoStep kills servers at random moments while they record steps. Afterwards the session is healthy,
// every acknowledged step is recorded once, and the token of the interrupted call still works.
func TestW18AKillLosesNoStep(t *testing.T) {
	t.Parallel()
	kills := servertest.Rounds(20, 200)
	p := newPlace(t)
	p.write(filepath.Join(p.workflows, "many.yaml"), repeating(1000))
	s := p.start()
	a := s.begin("many", nil)
	id, token := a.data("sessionId"), a.token()
	acknowledged, cutOff, recorded := 0, 0, 0
	for kill := range kills {
		limit := 1 + rand.IntN(4)
		for n := 0; ; n++ {
			if n == limit {
				time.AfterFunc(time.Duration(rand.IntN(4000))*time.Microsecond, func() { _ = s.Cmd.Process.Kill() })
			}
			m, err := s.Try("tools/call", servertest.CallParams(t, "continue_workflow", args{"continueToken": token, "notes": fmt.Sprintf("step %d", acknowledged)}))
			if err != nil {
				cutOff++
				break
			}
			b := answer{servertest.Answer{T: t, M: &m}}
			token = b.fine().token()
			acknowledged++
		}
		s.Kill()
		s = p.start()
		s.healthy(id)
		now := s.call("resume_session", args{"sessionId": id}).kind("step")
		done, _ := now.M.Result().Path("structuredContent", "completedSteps").Int64()
		if done != int64(acknowledged) && done != int64(acknowledged)+1 {
			t.Fatalf("kill %d: %d steps are recorded, %d were acknowledged", kill, done, acknowledged)
		}
		// The call is repeated: it is recorded now, or was recorded before.
		b := s.call("continue_workflow", args{"continueToken": token, "notes": fmt.Sprintf("step %d", acknowledged)}).kind("step")
		replay := b.M.Result().Path("structuredContent", "replay")
		if differs, _ := replay.Path("differs").Bool(); replay.Present() != (done == int64(acknowledged)+1) || differs {
			t.Errorf("kill %d: replay %s", kill, replay.Raw())
		}
		if replay.Present() {
			recorded++
		}
		token = b.token()
		acknowledged++
	}
	p.eachStepOnce(id, acknowledged)
	t.Logf("%d kills, %d calls cut off, %d of them were recorded, %d steps", kills, cutOff, recorded, acknowledged)
}

// eachStepOnce checks that the files of a session have the steps 0 to count-1, in order.
func (p *place) eachStepOnce(id string, count int) {
	p.t.Helper()
	step := 0
	for _, name := range p.segments(id)[1:] {
		text := p.read(name)
		if !strings.Contains(text, `"kind":"step_advanced"`) {
			continue
		}
		if !strings.Contains(text, fmt.Sprintf(`"notes":"step %d"`, step)) {
			p.t.Fatalf("%s does not hold step %d: %s", filepath.Base(name), step, text)
		}
		step++
	}
	if step != count {
		p.t.Errorf("%d steps are recorded, want %d", step, count)
	}
}

// TestW18AKillWhileStartingLeavesWholeSessions checks that a session is complete or absent.
func TestW18AKillWhileStartingLeavesWholeSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acknowledged := 0
	for range servertest.Rounds(10, 100) {
		s := p.start()
		time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = s.Cmd.Process.Kill() })
		for {
			m, err := s.Try("tools/call", servertest.CallParams(t, "start_workflow", args{"workflowId": "plain"}))
			if err != nil {
				break
			}
			b := answer{servertest.Answer{T: t, M: &m}}
			b.kind("step")
			acknowledged++
		}
		s.Kill()
	}
	s := p.start()
	entries, err := os.ReadDir(filepath.Join(p.state, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, e := range entries {
		if len(e.Name()) == 16 {
			whole++
			s.healthy(e.Name())
		}
	}
	if whole < acknowledged {
		t.Errorf("%d sessions were acknowledged, %d are there", acknowledged, whole)
	}
	list := s.call("resume_session", args{}).fine()
	more, _ := list.M.Result().Path("structuredContent", "older").Int64()
	if n := list.M.Result().Path("structuredContent", "sessions").Len(); n+int(more) != whole {
		t.Errorf("%d sessions are listed, %d are there", n+int(more), whole)
	}
	t.Logf("%d sessions acknowledged, %d whole, %d entries", acknowledged, whole, len(entries))
}

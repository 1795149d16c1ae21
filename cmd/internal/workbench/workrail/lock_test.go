package workrail_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// holdEnv names the session directory that the test binary locks as another process.
const holdEnv = "WORKRAIL_TEST_HOLD"

// holdLock takes the lock in a directory and holds it until the process is killed.
func holdLock(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	file, err := filelock.Open(root, "lock")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "held"), nil, 0o600); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
	return file.Close()
}

// holdElsewhere starts a process that holds the lock of a session, and returns when it does.
func (p *place) holdElsewhere(id string) *exec.Cmd {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdEnv+"="+p.session(id))
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this pipe
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	wait.Until(p.t, "the lock", func() bool {
		_, err := os.Stat(filepath.Join(p.session(id), "held"))
		return err == nil
	})
	return cmd
}

// TestW9AfterTheWaitTheCallSucceeds has another process that releases the session while the caller waits for the
// advised delay.
func TestW9AfterTheWaitTheCallSucceeds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a := s.begin("plain", nil)
	id := a.data("sessionId")
	holder := p.holdElsewhere(id)
	b := s.call("continue_workflow", args{"continueToken": a.token()}).is("TOKEN_SESSION_LOCKED").wellFormed()
	after, _ := b.envelope().Path("retry", "afterMs").Int64()
	if after <= 0 {
		t.Errorf("it does not say how long to wait: %s", b.envelope().Raw())
	}
	s.call("resume_session", args{"sessionId": id}).kind("step") // reading needs no lock
	s.healthy(id)
	if got := s.steps(id); len(got) != 0 {
		t.Errorf("%d steps are recorded", len(got))
	}
	wait := time.After(time.Duration(after) * time.Millisecond)
	_ = holder.Process.Kill()
	_ = holder.Wait()
	<-wait
	s.call("continue_workflow", args{"continueToken": a.token()}).kind("step")
}

// TestW10LockIsReleasedOnlyWhenItsProcessEnds checks that a lock is released exactly when its process ends.
func TestW10LockIsReleasedOnlyWhenItsProcessEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a := s.begin("plain", nil)
	id := a.data("sessionId")
	// A file that names a process but is not locked: its owner has ended, or another process has its id now.
	for _, text := range []string{"", "{", `{"pid":1,"since":"2026-01-02T03:04:05Z"}`, fmt.Sprintf(`{"pid":%d}`, os.Getpid()), `{"pid":999999999}`} {
		p.write(filepath.Join(p.session(id), "lock"), text)
		a = s.walk(a, 1)
	}
	holder := p.holdElsewhere(id)
	for range 3 {
		s.call("continue_workflow", args{"continueToken": a.token()}).is("TOKEN_SESSION_LOCKED")
	}
	_ = holder.Process.Kill()
	_ = holder.Wait()
	s.walk(a, 1).kind("step")
}

// TestW10SequentialCallsAreNeverLocked checks that a client that sends one call at a time never gets a lock error.
func TestW10SequentialCallsAreNeverLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	for range servertest.Rounds(20, 200) {
		a := s.begin("plain", nil)
		id := a.data("sessionId")
		for range 3 {
			a = s.walk(a, 1)
			s.call("resume_session", args{}).fine()
			s.call("export_session", args{"sessionId": id}).fine()
		}
	}
}

// repeating returns a workflow of many steps.
func repeating(times int) string {
	return fmt.Sprintf("id: many\nname: Many\nsteps:\n  - id: loop\n    loop:\n      times: %d\n      maxIterations: %d\n      steps:\n        - {id: s, prompt: Do it., notes: required}\n", times, times)
}

// contend sends one token until it is answered, and waits for the advised delays.
func contend(s *server, token, notes string) (a answer, locked int, err error) {
	for {
		m, err := s.Try("tools/call", servertest.CallParams(s.T, "continue_workflow", args{"continueToken": token, "notes": notes}))
		if err != nil {
			return answer{}, locked, err
		}
		a := answer{servertest.Answer{T: s.T, M: &m}}
		if a.Code() != "TOKEN_SESSION_LOCKED" {
			return a, locked, nil
		}
		locked++
		if locked > 3 {
			return a, locked, fmt.Errorf("after %d waits it is still locked", locked-1)
		}
		after, _ := a.envelope().Path("retry", "afterMs").Int64()
		time.Sleep(time.Duration(after) * time.Millisecond) // as the answer says
	}
}

// TestW10TwoProcessesFightOverOneSession sends the same token with different notes to two servers in each round, while
// a third one reads.
func TestW10TwoProcessesFightOverOneSession(t *testing.T) {
	t.Parallel()
	count := servertest.Rounds(60, 1000)
	p := newPlace(t)
	p.write(filepath.Join(p.workflows, "many.yaml"), repeating(count))
	fighters, reader := []*server{p.start(), p.start()}, p.start()
	a := fighters[0].begin("many", nil)
	id := a.data("sessionId")
	stop, read := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				read <- n
				return
			default:
			}
			for _, tool := range []string{"session_health", "resume_session", "export_session"} {
				m, err := reader.Try("tools/call", servertest.CallParams(t, tool, args{"sessionId": id}))
				b := answer{servertest.Answer{T: t, M: &m}}
				if err != nil || b.failed() || tool == "session_health" && b.data("health", "kind") != "healthy" {
					t.Errorf("%s while others write: %v %.700s", tool, err, m.Bytes())
					read <- n
					return
				}
			}
		}
	}()
	token, winners, locks := a.token(), [2]int{}, [2]int{}
	for round := range count {
		var got [2]answer
		var all sync.WaitGroup
		for i, s := range fighters {
			all.Go(func() {
				b, locked, err := contend(s, token, fmt.Sprintf("fighter %d round %d", i, round))
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				got[i] = b
				locks[i] += locked
			})
		}
		all.Wait()
		if t.Failed() {
			break
		}
		won := 0
		for i, b := range got {
			b.fine()
			if differs, _ := b.M.Result().Path("structuredContent", "replay", "differs").Bool(); !differs {
				won++
				winners[i]++
			}
		}
		if won != 1 || got[0].token() != got[1].token() {
			t.Fatalf("round %d: %d calls were recorded\n%s\n%s", round, won, got[0].M.Bytes(), got[1].M.Bytes())
		}
		token = got[0].token()
	}
	close(stop)
	n := <-read
	fighters[0].healthy(id)
	if got := len(fighters[0].steps(id)); got != count && got < 512 { // a long export is truncated
		t.Errorf("%d steps are recorded after %d rounds", got, count)
	}
	last := fighters[1].call("resume_session", args{"sessionId": id}).fine()
	if done, _ := last.M.Result().Path("structuredContent", "completedSteps").Int64(); done != int64(count) {
		t.Errorf("%d steps are completed after %d rounds", done, count)
	}
	t.Logf("%d rounds, won %v, waited %v, %d readings", count, winners, locks, n)
}

package kaiza_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/smalldisk"
	"github.com/candor-mcp/candor/ledger"
)

// small is a server whose trail is on a small disk in a private mount namespace.
type small struct {
	*stdio
	plan  string
	trail *env // the same disk, seen from the test process
}

// onASmallDisk starts such a server. The test accesses its mounts through /proc.
func onASmallDisk(p *env, check string) *small {
	p.t.Helper()
	disk := filepath.Join(filepath.Dir(p.root), "small")
	if err := os.Mkdir(disk, 0o700); err != nil {
		p.t.Fatal(err)
	}
	s := &small{plan: p.approved("src/**")}
	s.stdio = p.prepare("--ledger", filepath.Join(disk, "ledger"), "--policy", p.checks(check))
	smalldisk.Mount(p.t, disk, 1)(s.Cmd)
	s.Start()
	s.begin("WINDSURF")
	s.trail = &env{t: p.t, root: p.root, work: p.work, state: smalldisk.Seen(s.Cmd, disk)}
	return s
}

func (s *small) fill() {
	s.t.Helper()
	smalldisk.Fill(s.t, s.trail.state)
}

// empty frees the space that fill or a check used.
func (s *small) empty() { s.p.must(os.Remove(filepath.Join(s.trail.state, smalldisk.Filling))) }

// write writes a new file and checks that the file exists if and only if the call reported so. It returns the code. If
// only the end of the call could not be recorded, the call fails but its effect remains; the trail then records the
// effect, and the error is not retryable.
func (s *small) write(name string) string {
	s.t.Helper()
	a := s.call("write_file", args{"path": name, "content": name, "plan_hash": s.plan})
	if a.code() != "" {
		a.is("AUDIT_LOG_FAILED")
	}
	_, there := s.p.read(name)
	if refused := a.code() != ""; there && refused {
		stands := slices.ContainsFunc(s.trail.completions(), func(e ledger.Record) bool {
			return e.Outcome == ledger.OutcomeOK && strings.Contains(string(e.Data), name)
		})
		if !stands || !a.canonical().Path("retry", "kind").Is("not_retryable") || !a.canonical().Path("details", "effect").Is("done") {
			s.t.Errorf("%s is there, that the trail knows of it is %v, and the caller is told %s", name, stands, a.m.Bytes())
		}
	} else if there == refused {
		s.t.Errorf("%s: the code is %q, and that it is there is %v", name, a.code(), there)
	}
	return a.code()
}

// TestK20FullDiskRefusesChangesUntilSpaceIsFreed fills the disk of the trail twice.
func TestK20FullDiskRefusesChangesUntilSpaceIsFreed(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := onASmallDisk(p, "true")
	for round := range 2 {
		if code := s.write(fmt.Sprintf("src/before-%d.txt", round)); code != "" {
			t.Fatalf("refused with room: %s", code)
		}
		s.fill()
		for i := 0; s.write(fmt.Sprintf("src/full-%d-%d.txt", round, i)) == ""; i++ {
			if i == 2000 {
				t.Fatal("it is full and never refuses")
			}
		}
		for i := range 3 {
			if s.write(fmt.Sprintf("src/still-%d-%d.txt", round, i)) == "" {
				t.Error("it was refused, and then there was room")
			}
		}
		p.atRest(-1)
		s.empty()
		i := 0
		p.eventually("it is back without a restart", func() bool {
			i++
			return s.write(fmt.Sprintf("src/back-%d-%d.txt", round, i)) == ""
		})
	}
	s.trail.verify()
	s.trail.asTheTrailSays()
}

// TestK20AChangeWhoseEndCannotBeRecordedIsUndone has the check fill the disk after the reservation and before the
// completion.
func TestK20AChangeWhoseEndCannotBeRecordedIsUndone(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	filling := filepath.Join(filepath.Dir(p.root), "small", "filling")
	s := onASmallDisk(p, "cat /dev/zero > "+filling+" 2> /dev/null; true")
	undone := 0
	for i := range 200 {
		name := fmt.Sprintf("src/%d.txt", i)
		if s.write(name) == "" {
			continue // there was enough space for its end
		}
		for _, e := range s.trail.entries() {
			if e.Kind == "reserve" && strings.Contains(string(e.Data), name) {
				undone++
			}
		}
		if undone > 0 {
			break
		}
		s.empty()
	}
	if undone == 0 {
		t.Error("no change was reserved, done and undone")
	}
	p.atRest(-1)
	s.empty()
	p.eventually("it is back without a restart", func() bool { return s.call("read_file", args{"path": "src/hello.txt"}).code() == "" })
	s.trail.verify()
	s.trail.asTheTrailSays()
}

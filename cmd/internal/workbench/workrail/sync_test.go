package workrail_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/systrace"
)

// TestAStepSyncsItsSessionTwice counts the syncs of steps from outside. The session needs two fdatasync calls, of the
// segment and of the manifest, and a sync of the directory between them. The trail, if there is one, needs two more:
// before the call does anything, and before it is answered.
func TestAStepSyncsItsSessionTwice(t *testing.T) {
	t.Parallel()
	for name, trail := range map[string]bool{"without a trail": false, "with a trail": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const steps = 9
			p := newPlace(t)
			home := filepath.Dir(p.state)
			trace := filepath.Join(home, "trace")
			p.wrap = func(cmd *exec.Cmd) {
				if err := systrace.Wrap(cmd, trace); err != nil {
					t.Skip("strace is not installed")
				}
			}
			flags := []string{}
			if trail {
				flags = []string{"--ledger", filepath.Join(home, "trail")}
			}
			s := p.start(flags...)
			s.walk(s.begin("plain", nil), steps)
			s.End()
			if strings.Contains(s.Stderr.String(), "ptrace") {
				t.Skipf("strace may not trace here: %s", &s.Stderr)
			}
			got := countSyncs(t, home, trace, steps)
			if got.segment != steps || got.manifest != steps || got.folder != steps || got.other != 0 {
				t.Errorf("%d steps: %+v", steps, got)
			}
			// A checkpoint, which is signed once a second, syncs the entries that it covers and then its own entry.
			if want := 2 * steps; trail && (got.trail < want || got.trail > want+2*got.checkpoints) || !trail && got.trail != 0 {
				t.Errorf("%d steps: %d syncs of the trail, %d checkpoints", steps, got.trail, got.checkpoints)
			}
			t.Logf("%d steps: %+v", steps, got)
		})
	}
}

// stepSyncs counts the syncs of each kind of file.
type stepSyncs struct {
	segment, manifest, folder, trail, other int
	checkpoints                             int // that were written to the trail
}

// countSyncs counts the syncs of a server below home between the answer to start_workflow and the last one.
func countSyncs(t *testing.T, home, trace string, steps int) (n stepSyncs) {
	t.Helper()
	calls, err := systrace.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, c := range calls {
		if c.Says() && strings.Contains(c.Args, `\"structuredContent\"`) {
			answered++
		}
		if answered < 1 || answered > steps {
			continue
		}
		file := c.File()
		inTrail := strings.HasSuffix(file, "/audit-log.jsonl")
		if inTrail && c.Writes() {
			n.checkpoints += strings.Count(c.Args, `\"kind\":\"checkpoint\"`)
		}
		switch {
		case !c.Syncs():
		case c.Name == "fsync" && strings.HasSuffix(file, "/events"):
			n.folder++
		case strings.HasSuffix(file, "/manifest.jsonl"):
			n.manifest++
		case strings.Contains(file, "/events/"):
			n.segment++
		case inTrail:
			n.trail++
		case strings.HasSuffix(file, "/checkpoints"), !strings.HasPrefix(file, home): // with each checkpoint; the latter is the second copy
		default:
			t.Logf("%s of %s", c.Name, file)
			n.other++
		}
	}
	if answered != steps+1 {
		t.Fatalf("%d answers are in the trace, want %d", answered, steps+1)
	}
	return n
}

package workrail_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// candor runs a command on the state and returns its output and its exit code.
func (p *place) candor(command ...string) (string, int) {
	cmd := exec.Command(binary, append(append([]string{"workbench", "workrail"}, command...), "--state", p.state)...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// rewrite changes the only event of a session, and updates its line in the manifest.
func (p *place) rewrite(id, before, after string) {
	p.t.Helper()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	name := p.segments(id)[0]
	p.replaceIn(name, before, after)
	text := p.read(name)
	p.write(p.manifest(id), fmt.Sprintf(`{"v":1,"first":1,"last":1,"bytes":%d,"sha256":"%s","before":"%s"}`+"\n", len(text), hash(text), hash(id)))
}

// TestDoctorChecksThePosition has a session whose events verify but whose position is not in its workflow, which the
// digests do not show.
func TestDoctorChecksThePosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, says string }{
		"untouched":           {`"position"`, `"position"`, ""},
		"unknown step":        {`"position":{"v":1,"step":"s0"}`, `"position":{"v":1,"step":"s77"}`, "no step"},
		"unknown loop":        {`"position":{"v":1,"step":"s0"}`, `"position":{"v":1,"loops":[{"step":"s1","iteration":1}],"step":"s0"}`, "not a loop"},
		"another step":        {`"position":{"v":1,"step":"s0"}`, `"position":{"v":1,"step":"s1"}`, "shows step"},
		"completed, and open": {`"position":{"v":1,"step":"s0"}`, `"position":{"v":1}`, "shows step"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := p.start()
			id := s.begin("plain", nil).data("sessionId")
			s.End()
			p.rewrite(id, c.before, c.after)
			out, code := p.candor("doctor")
			if c.says == "" {
				if code != 0 || !strings.HasPrefix(out, "OK: 1 of 1") {
					t.Errorf("exit code %d: %s", code, out)
				}
				return
			}
			if code != 1 || !strings.Contains(out, "position_mismatch  "+id) || !strings.Contains(out, c.says) || !strings.Contains(out, "export "+id) {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
}

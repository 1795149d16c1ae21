package dual_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// personReadOnly runs a command with a read-only mount of the home of p.
func (p *place) personReadOnly(words ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	const mounting = `mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 77; exec "$@"`
	all := append([]string{"-c", mounting, filepath.Dir(p.state), binary, "workbench", "dual"}, words...)
	cmd := exec.Command("/bin/sh", append(all, "--state", p.state)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 77 {
		p.t.Skipf("no namespace to mount in: %v: %s", err, &said)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

// TestAnAuditorReadsAReadOnlySnapshot reads the state of a server that exited, and of one that was killed, whose last
// changes are in the write-ahead log.
func TestAnAuditorReadsAReadOnlySnapshot(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*server){"ended": func(s *server) { s.End() }, "killed": func(s *server) { s.Kill() }} {
		p := newPlace(t)
		s := p.start()
		id := s.task(nil)
		s.call("audit_session_start", args{"session_id": "work"}).fine()
		s.think(id, nil).fine()
		s.call("merkle_finalize", args{"session_id": "work"}).fine()
		p.awaitProof(id)
		stop(s)
		for _, side := range []string{"-shm"} { // a snapshot may lack it
			_ = os.Remove(filepath.Join(p.state, "dual.db"+side))
		}
		for words, want := range map[string]string{
			"tasks": "1 task\n", "sessions": "work  finalised  1 record", "rounds": "0 rounds\n",
			"verify": "OK: 1 record of 1 task, 1 attested by the ledger, 1 finalised session\n", "export " + id: `"thoughts"`,
		} {
			if out, said, code := p.personReadOnly(strings.Fields(words)...); code != 0 || !strings.Contains(out, want) {
				t.Errorf("%s, %s: code %d, %s%s", name, words, code, out, said)
			}
		}
	}
}

// awaitProof waits until a checkpoint covers the records of a task, so that it can be exported.
func (p *place) awaitProof(id string) {
	p.t.Helper()
	for range 300 {
		if _, _, code := p.person("export", id); code == 0 {
			return
		}
	}
	p.t.Fatal("no checkpoint")
}

package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of this file check over the wire what other packages prove in depth.

func TestK7CausesAreSafeOnTheWire(t *testing.T) {
	t.Parallel()
	s := newEnv(t).executor("--drill")
	for kind, cause := range map[string]string{"cyclic": "a cause of a cyclic failure", "huge": "a huge cause", "panic_value": "[cycle]", "error": "the drill returned an error"} {
		a := s.call("drill", args{"kind": kind})
		a.is("INTERNAL_ERROR")
		if got := a.system().Path("cause").Raw(); !strings.Contains(string(got), cause) || len(a.m.Bytes()) > 64<<10 {
			t.Errorf("%s: %d bytes, the cause is %.300s", kind, len(a.m.Bytes()), got)
		}
	}
	if e := s.call("drill", args{"kind": "invariant"}).system(); e.Path("cause").IsNull() || !e.Path("invariant_id").Is("INV_DRILL") {
		t.Errorf("the invariant lost its cause: %s", e.Raw())
	}
}

func TestK8CarriedCodesStay(t *testing.T) {
	t.Parallel()
	s := newEnv(t).executor("--drill")
	s.call("drill", args{"kind": "legacy"}).is("HASH_MISMATCH")
	s.call("drill", args{"kind": "wrapped"}).is("INSUFFICIENT_PERMISSIONS")
}

// log returns the only log of the trail.
func (p *env) log() string {
	p.t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.ledgerDir(), "kaiza-*", "audit-log.jsonl"))
	if err != nil || len(logs) != 1 {
		p.t.Fatalf("logs %v, %v", logs, err)
	}
	return logs[0]
}

func TestK16AnEditIsFound(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.executor().stop()
	p.verify()
	text, err := os.ReadFile(p.log())
	p.must(err)
	p.must(os.WriteFile(p.log(), []byte(strings.Replace(string(text), "begin_session", "begin_sessiom", 1)), 0o600))
	if out, code := p.candor("ledger", "verify", p.ledgerDir()); code != 1 {
		t.Errorf("an edited entry: %d %s", code, out)
	}
}

func TestK17ATornEntryIsSetAside(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	s.Kill()
	f, err := os.OpenFile(p.log(), os.O_APPEND|os.O_WRONLY, 0)
	p.must(err)
	_, err = f.WriteString(`{"v":1,"cha`)
	p.must(err)
	p.must(f.Close())
	p.executor().call("read_file", args{"path": "src/hello.txt"}).fine()
	p.verify()
}

func TestK18TwoServersShareATrail(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	one, two := p.executor(), p.executor()
	one.Kill() // its lock is taken over
	three := p.executor()
	for range 20 {
		two.call("read_file", args{"path": "none"}).is("FILE_NOT_FOUND")
		three.call("read_file", args{"path": "none"}).is("FILE_NOT_FOUND")
	}
	two.stop()
	three.stop()
	p.verify()
}

package workrail_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// damaged is a session of five events, each in a segment, beside another session.
type damaged struct {
	*place
	s       *server
	a       answer // the last answer
	id      string
	other   answer
	restart bool
}

func newDamaged(t testing.TB, restart bool) *damaged {
	t.Helper()
	p := newPlace(t)
	s := p.start()
	d := &damaged{place: p, s: s, other: s.begin("plain", nil), restart: restart}
	d.a = s.walk(s.begin("plain", nil), 4)
	d.id = d.a.data("sessionId")
	return d
}

// health requires a kind and a reason from everything that reads the session, a working export and an undamaged other
// session.
func (d *damaged) health(what, kind, reason string, sound int) {
	d.t.Helper()
	if d.restart {
		d.s.Kill()
		d.s = d.start()
	}
	h := d.s.call("session_health", args{"sessionId": d.id}).fine()
	events, _ := h.M.Result().Path("structuredContent", "health", "events").Int64()
	if h.data("health", "kind") != kind || h.data("health", "reason", "code") != reason || events != int64(sound) {
		d.t.Errorf("%s: health %s, want %s %s with %d sound events", what, h.M.Result().Path("structuredContent", "health").Raw(), kind, reason, sound)
	}
	export := d.s.call("export_session", args{"sessionId": d.id}).fine()
	if n := export.M.Result().Path("structuredContent", "sound").Len(); n != sound {
		d.t.Errorf("%s: %d events are exported as sound, want %d", what, n, sound)
	}
	export.leaksNothing()
	b := d.s.call("continue_workflow", args{"continueToken": d.a.token()})
	r := d.s.call("resume_session", args{"resumeToken": d.a.data("resumeToken")})
	if kind == "healthy" {
		r.fine()
	} else {
		for _, e := range []answer{b, r} {
			e.is("SESSION_NOT_HEALTHY").wellFormed()
			if e.detail("health", "kind") != kind || e.detail("health", "reason", "code") != reason || e.detail("health", "reason", "message") == "" {
				d.t.Errorf("%s: details %s", what, e.envelope().Raw())
			}
		}
	}
	d.s.healthy(d.other.data("sessionId"))
	d.other = d.s.walk(d.s.call("resume_session", args{"resumeToken": d.other.data("resumeToken")}).fine(), 1)
	list := d.s.call("resume_session", args{}).fine()
	if n := list.M.Result().Path("structuredContent", "sessions").Len(); n != 2 {
		d.t.Errorf("%s: %d sessions are listed", what, n)
	}
}

// TestW11DamageHasItsKindAndReason damages a session in each defined way, half of them before a restart.
func TestW11DamageHasItsKindAndReason(t *testing.T) {
	t.Parallel()
	dropLine := func(n int) func(*damaged) {
		return func(d *damaged) {
			lines := strings.SplitAfter(d.read(d.manifest(d.id)), "\n")
			d.write(d.manifest(d.id), strings.Join(append(lines[:n:n], lines[n+1:]...), ""))
		}
	}
	remove := func(n int) func(*damaged) {
		return func(d *damaged) {
			if err := os.Remove(d.segments(d.id)[n]); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	bump := func(n int) func(*damaged) {
		return func(d *damaged) { d.replaceIn(d.segments(d.id)[n], `{"v":1,`, `{"v":2,`) }
	}
	cases := map[string]struct {
		do           func(*damaged)
		kind, reason string
		sound        int
	}{
		"untouched":              {func(*damaged) {}, "healthy", "", 5},
		"first segment removed":  {remove(0), "corrupt_head", "missing_attested_segment", 0},
		"second segment removed": {remove(1), "corrupt_tail", "missing_attested_segment", 1},
		"third segment removed":  {remove(2), "corrupt_tail", "missing_attested_segment", 2},
		"fourth segment removed": {remove(3), "corrupt_tail", "missing_attested_segment", 3},
		"last segment removed":   {remove(4), "corrupt_tail", "missing_attested_segment", 4},
		"first line dropped":     {dropLine(0), "corrupt_head", "non_contiguous_indices", 0},
		"second line dropped":    {dropLine(1), "corrupt_tail", "non_contiguous_indices", 1},
		"third line dropped":     {dropLine(2), "corrupt_tail", "non_contiguous_indices", 2},
		"fourth line dropped":    {dropLine(3), "corrupt_tail", "non_contiguous_indices", 3},
		// The disk looks as after a crash between the segment and its line: no trace shows that the step was
		// acknowledged.
		"last line dropped": {dropLine(4), "healthy", "", 4},
		"two lines dropped": {func(d *damaged) { dropLine(4)(d); dropLine(3)(d) }, "corrupt_tail", "non_contiguous_indices", 3},
		"manifest removed": {func(d *damaged) {
			if err := os.Remove(d.manifest(d.id)); err != nil {
				d.t.Fatal(err)
			}
		}, "corrupt_head", "schema_validation_failed", 0},
		"manifest empty":             {func(d *damaged) { d.write(d.manifest(d.id), "") }, "corrupt_head", "schema_validation_failed", 0},
		"version of the first event": {bump(0), "unknown_version", "unknown_schema_version", 0},
		"version of the third event": {bump(2), "unknown_version", "unknown_schema_version", 2},
		"version of the last event":  {bump(4), "unknown_version", "unknown_schema_version", 4},
		"version of the first line":  {func(d *damaged) { d.replaceIn(d.manifest(d.id), `{"v":1,`, `{"v":7,`) }, "unknown_version", "unknown_schema_version", 0},
		"a line repeated": {func(d *damaged) {
			lines := strings.SplitAfter(d.read(d.manifest(d.id)), "\n")
			d.write(d.manifest(d.id), strings.Join(lines, "")+lines[4])
		}, "corrupt_tail", "non_contiguous_indices", 5},
		"a line of another session": {func(d *damaged) { d.write(d.manifest(d.id), d.read(d.manifest(d.other.data("sessionId")))) }, "corrupt_head", "digest_mismatch", 0},
		"a segment of another":      {func(d *damaged) { d.write(d.segments(d.id)[0], d.read(d.segments(d.other.data("sessionId"))[0])) }, "corrupt_head", "digest_mismatch", 0},
		"a segment cut": {func(d *damaged) {
			text := d.read(d.segments(d.id)[3])
			d.write(d.segments(d.id)[3], text[:len(text)/2])
		}, "corrupt_tail", "digest_mismatch", 3},
		"a segment empty": {func(d *damaged) { d.write(d.segments(d.id)[3], "") }, "corrupt_tail", "digest_mismatch", 3},
		"a line begun":    {func(d *damaged) { d.write(d.manifest(d.id), d.read(d.manifest(d.id))+`{"v":1,"fir`) }, "healthy", "", 5},
		"a folder for a segment": {func(d *damaged) {
			remove(2)(d)
			if err := os.Mkdir(filepath.Join(d.session(d.id), "events", "00000003-00000003.jsonl"), 0o700); err != nil {
				d.t.Fatal(err)
			}
		}, "corrupt_tail", "digest_mismatch", 2},
	}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		restart := i%2 == 0
		t.Run(fmt.Sprintf("%s, restart %t", name, restart), func(t *testing.T) {
			t.Parallel()
			d := newDamaged(t, restart)
			c.do(d)
			d.health(name, c.kind, c.reason, c.sound)
		})
	}
}

// TestW11AFlippedByteIsNoticed flips bytes of every file of a session, one at a time, and checks that every reader
// detects it, and that restoring the byte restores the session.
func TestW11AFlippedByteIsNoticed(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, false)
	step := servertest.Rounds(37, 5)
	if testing.Short() {
		step = 211
	}
	files, kinds := append(d.segments(d.id), d.manifest(d.id)), map[string]int{}
	for n, file := range files {
		text := d.read(file)
		for at := 0; at < len(text); at += step {
			what := fmt.Sprintf("%s byte %d", filepath.Base(file), at)
			flipped := []byte(text)
			flipped[at] ^= 0x04
			d.write(file, string(flipped))
			b := d.s.call("continue_workflow", args{"continueToken": d.a.token()}).is("SESSION_NOT_HEALTHY")
			h := d.s.call("session_health", args{"sessionId": d.id}).fine()
			kind, reason := b.detail("health", "kind"), b.detail("health", "reason", "code")
			if h.data("health", "kind") != kind || h.data("health", "reason", "code") != reason || kind == "healthy" || reason == "" {
				t.Fatalf("%s: continue says %s %s, health %s", what, kind, reason, h.M.Result().Path("structuredContent").Raw())
			}
			want := int64(n)
			events, _ := h.M.Result().Path("structuredContent", "health", "events").Int64()
			if n < 5 && (events != want || kind == "corrupt_head" && n > 0) {
				t.Errorf("%s: %s with %d sound events, want %d", what, kind, events, want)
			}
			export := d.s.call("export_session", args{"sessionId": d.id}).fine()
			if got := export.M.Result().Path("structuredContent", "sound").Len(); int64(got) != events {
				t.Errorf("%s: %d events are exported, %d are sound", what, got, events)
			}
			kinds[kind+" "+reason]++
			d.write(file, text)
		}
	}
	d.s.healthy(d.id)
	d.s.healthy(d.other.data("sessionId"))
	d.s.walk(d.a, 1).kind("step")
	t.Logf("%v", kinds)
}

// TestW18ACrashBeforeTheManifestLineIsHealthy has a segment without a manifest line. The step is done again, once.
func TestW18ACrashBeforeTheManifestLineIsHealthy(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", `{"v":1,"first":5,`} {
		for _, restart := range []bool{false, true} {
			d := newDamaged(t, restart)
			lines := strings.SplitAfter(d.read(d.manifest(d.id)), "\n")
			before := d.s.call("resume_session", args{"sessionId": d.id}).fine()
			d.write(d.manifest(d.id), strings.Join(lines[:4], "")+part)
			d.a = before
			d.health("crash", "healthy", "", 4)
			if got := d.s.steps(d.id); strings.Join(got, " ") != "s0 s1 s2" {
				t.Errorf("the steps are %q", got)
			}
			a := d.s.call("resume_session", args{"sessionId": d.id}).kind("step")
			if a.data("step", "path") != "s3" {
				t.Errorf("it stands at %s", a.data("step", "path"))
			}
			d.s.walk(a, 7).kind("completed")
			if got := d.s.steps(d.id); strings.Join(got, " ") != "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9" {
				t.Errorf("the steps are %q", got)
			}
			d.s.healthy(d.id)
			d.s.End()
		}
	}
}

// TestW11ADamagedWorkflowIsReplacedByTheNextStart checks that the advice to start over works, and that earlier sessions
// continue as well.
func TestW11ADamagedWorkflowIsReplacedByTheNextStart(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(text string) string{
		"not JSON": func(string) string { return "{" },
		"replaced": func(text string) string { return strings.Replace(text, "Do it.", "Do not.", 1) },
	} {
		p := newPlace(t)
		s := p.start()
		a := s.begin("plain", nil)
		p.write(p.snapshot(), damage(p.read(p.snapshot())))
		b := s.call("continue_workflow", args{"continueToken": a.token()})
		if !b.failed() && b.data("kind") != "blocked" {
			t.Errorf("%s: the damage was not noticed: %s", name, b.M.Bytes())
		}
		s.walk(s.begin("plain", nil), 1).kind("step")
		s.walk(s.call("resume_session", args{"resumeToken": a.data("resumeToken")}).fine(), 1).kind("step")
	}
}

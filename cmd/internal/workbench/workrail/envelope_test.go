package workrail_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/wire"
)

// The limits of an envelope, as defined by the contract.
const (
	maxMessage    = limits.Message
	maxSuggestion = limits.Suggestion
	maxEnvelope   = limits.Message + limits.Suggestion + limits.Details + 512
)

func members(v wire.Value) []string {
	var names []string
	for name := range v.Members() {
		text, _ := name.Str()
		names = append(names, text)
	}
	return names
}

// wellFormed checks a failure for the properties that all failures have: W2, W3, W6, W14 and W17.
func (a answer) wellFormed() answer {
	a.T.Helper()
	e := a.envelope()
	allowed := []string{"code", "message", "retry", "suggestion", "details", "dev.candor/error"}
	names := members(e)
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			a.T.Errorf("the envelope has a member %s", name)
		}
	}
	for _, name := range []string{"code", "message", "retry"} {
		if !slices.Contains(names, name) {
			a.T.Errorf("the envelope lacks %s: %s", name, e.Raw())
		}
	}
	for _, name := range []string{"details", "suggestion"} {
		if e.Path("details", name).Present() {
			a.T.Errorf("details hold %s: %s", name, e.Raw())
		}
	}
	if !a.M.Error().Present() && string(a.M.Result().Path("structuredContent").Raw()) != string(e.Raw()) {
		a.T.Errorf("structuredContent is not the envelope")
	}
	a.retryIsSound()
	a.bounded()
	a.leaksNothing()
	a.doesNotContradict()
	return a
}

func (a answer) retryIsSound() {
	a.T.Helper()
	retry := a.envelope().Path("retry")
	kind, _ := retry.Path("kind").Str()
	after, hasAfter := retry.Path("afterMs").Int64()
	switch kind {
	case "not_retryable", "retryable_immediate":
		if hasAfter || len(members(retry)) != 1 {
			a.T.Errorf("retry is %s", retry.Raw())
		}
	case "retryable_after_ms":
		if !hasAfter || after <= 0 || len(members(retry)) != 2 {
			a.T.Errorf("retry is %s", retry.Raw())
		}
	default:
		a.T.Errorf("the kind of retry is %q", kind)
	}
}

func (a answer) bounded() {
	a.T.Helper()
	for path, limit := range map[string]int{"message": maxMessage, "suggestion": maxSuggestion} {
		text, _ := a.Canonical().Path(path).Str()
		if len(text) > limit || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
			a.T.Errorf("%s has %d bytes, at most %d are allowed, and must not be cut inside a character: %.100q", path, len(text), limit, text)
		}
	}
	if n := len(a.envelope().Raw()); n > maxEnvelope {
		a.T.Errorf("the envelope has %d bytes", n)
	}
	if !utf8.Valid(a.M.Bytes()) || strings.ContainsRune(string(a.M.Bytes()), utf8.RuneError) {
		a.T.Errorf("a character was cut: %.1500s", a.M.Bytes())
	}
}

// leaksNothing checks that a whole answer, including _meta, has no absolute paths of this machine.
func (a answer) leaksNothing() {
	a.T.Helper()
	home, _ := os.UserHomeDir()
	for _, path := range []string{home, filepath.Clean(os.TempDir()), filepath.Dir(binary), homeMark} {
		if len(path) > 1 && strings.Contains(string(a.M.Bytes()), path) {
			a.T.Errorf("%s is shown: %s", path, a.M.Bytes())
		}
	}
}

// doesNotContradict checks the text of a failure against its retry advice: candor drops a suggestion that contradicts
// it.
func (a answer) doesNotContradict() {
	a.T.Helper()
	e := a.Canonical()
	suggestion, _ := e.Path("suggestion").Str()
	message, _ := e.Path("message").Str()
	var said struct {
		Kind    candor.RetryKind `json:"kind"`
		AfterMs *int64           `json:"afterMs"`
	}
	if err := json.Unmarshal(e.Path("retry").Raw(), &said); err != nil {
		a.T.Fatal(err)
	}
	retry, err := candor.ParseRetry(said.Kind, said.AfterMs)
	if err != nil {
		a.T.Fatal(err)
	}
	for _, text := range []string{suggestion, message} {
		made := candor.New(candor.CodeInternalError, "", candor.WithRetry(retry), candor.WithSuggestion(text))
		if text != "" && len(text) <= limits.Suggestion && made.Suggestion() != text {
			a.T.Errorf("%q contradicts %s", text, retry)
		}
	}
	if !retry.Retryable() && strings.Contains(message, "retryContinueToken") {
		a.T.Errorf("the message names a token that the answer does not hold: %q", message)
	}
}

// TestW1EveryErrorResultHasOneForm compares the members of all error results, because one function writes them. That no other sets isError
// is checked in the source by internal/tools/shape.
func TestW1EveryErrorResultHasOneForm(t *testing.T) {
	t.Parallel()
	form := []string{"_meta", "content", "isError", "structuredContent"}
	for name, a := range everyFailure(t) {
		if a.M.Error().Present() {
			continue
		}
		if got := slices.Sorted(slices.Values(members(a.M.Result()))); !slices.Equal(got, form) {
			t.Errorf("%s: the result has %v, want %v", name, got, form)
		}
	}
}

// allFailures holds the answers of [place.failures]. The tests that check all of them share one run, which starts some
// twenty servers.
var allFailures struct {
	once    sync.Once
	answers map[string]answer
}

// everyFailure returns an answer for each kind of failure, by name. The server for most of them runs with variables
// that make programs verbose, and with a home directory that the answers must not contain.
func everyFailure(t *testing.T) map[string]answer {
	t.Helper()
	allFailures.once.Do(func() {
		p := newPlace(t)
		p.env = []string{"HOME=" + filepath.Dir(p.state), "DEBUG_STACK=true", "MCP_ERRORS_VERBOSE=1"}
		answers := map[string]answer{}
		for name, fail := range p.failures() {
			answers[name] = fail()
		}
		allFailures.answers = answers
	})
	if allFailures.answers == nil {
		t.Fatal("the run of all failures did not end")
	}
	all := map[string]answer{}
	for name, a := range allFailures.answers {
		a.T = t
		all[name] = a
	}
	return all
}

// failures returns failing calls, one of each kind.
func (p *place) failures() map[string]func() answer {
	all := map[string]func() answer{}
	for code, trigger := range triggers {
		all[code] = func() answer { return trigger(newPlace(p.t)) }
	}
	s := p.start("--drill")
	for _, kind := range []string{"panic", "error", "timeout", "unsendable", "huge"} {
		all["drill "+kind] = func() answer { return s.call("drill", args{"kind": kind}) }
	}
	for name, in := range map[string]any{"a text": "x", "a list": []int{1}, "a number": 5} {
		all["arguments are "+name] = func() answer { return s.call("resume_session", in) }
	}
	all["unknown tool"] = func() answer { return s.call("nope", args{}) }
	all["no arguments"] = func() answer { return s.call("continue_workflow", args{}) }
	all["a context key is missing"] = func() answer { return s.call("start_workflow", args{"workflowId": "bug-hunt"}) }
	all["blocked too often"] = func() answer {
		a := s.reach("noted", args{}).kind("blocked")
		for range 2 {
			a = s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
		}
		return s.call("continue_workflow", args{"continueToken": a.token()})
	}
	all["unknown session"] = func() answer { return s.call("resume_session", args{"sessionId": "0000000000000000"}) }
	all["other session"] = func() answer {
		return s.call("resume_session", args{"sessionId": "0000000000000000", "resumeToken": s.begin("plain", nil).data("resumeToken")})
	}
	all["workflow folder gone"] = func() answer {
		q := newPlace(p.t)
		s := q.start()
		if err := os.RemoveAll(q.workflows); err != nil {
			p.t.Fatal(err)
		}
		return s.call("list_workflows", args{})
	}
	all["sessions folder gone"] = func() answer {
		q := newPlace(p.t)
		s := q.start()
		if err := os.RemoveAll(filepath.Join(q.state, "sessions")); err != nil {
			p.t.Fatal(err)
		}
		return s.call("start_workflow", args{"workflowId": "plain"})
	}
	all["a folder in place of the manifest"] = func() answer {
		q := newPlace(p.t)
		s := q.start()
		a := s.begin("plain", nil)
		manifest := q.manifest(a.data("sessionId"))
		if err := os.Remove(manifest); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Mkdir(manifest, 0o700); err != nil {
			p.t.Fatal(err)
		}
		return s.call("continue_workflow", args{"continueToken": a.token()})
	}
	all["a file in place of a folder"] = func() answer {
		q := newPlace(p.t)
		s := q.start()
		a := s.begin("plain", nil)
		if err := os.RemoveAll(filepath.Join(q.state, "snapshots")); err != nil {
			p.t.Fatal(err)
		}
		q.write(filepath.Join(q.state, "snapshots"), "")
		return s.call("continue_workflow", args{"continueToken": a.token()})
	}
	all["no such file"] = func() answer { return s.call("validate_workflow", args{"file": "../../etc/passwd"}) }
	return all
}

// TestW2EveryFailureIsTheEnvelope checks W2, W3, W6, W14 and W17 for every failure.
func TestW2EveryFailureIsTheEnvelope(t *testing.T) {
	t.Parallel()
	for name, a := range everyFailure(t) {
		if !a.failed() {
			t.Errorf("%s: it did not fail: %.800s", name, a.M.Bytes())
			continue
		}
		a.wellFormed()
		if t.Failed() {
			t.Fatalf("%s: %s", name, a.M.Bytes())
		}
	}
}

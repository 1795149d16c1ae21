package workrail_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/filelock"
)

// place is the environment of servers: a state directory and a directory of workflows.
type place struct {
	t         testing.TB
	state     string
	workflows string
	flags     []string // for every server
	env       []string
	wrap      func(*exec.Cmd) // changes the command of a server; may be nil
	last      *server         // the server that was started last
}

// plain has ten steps without requirements.
const plain = `id: plain
name: Plain
steps:
` + plainSteps

const plainSteps = `  - {id: s0, prompt: Do it., notes: optional}
  - {id: s1, prompt: Do it., notes: optional}
  - {id: s2, prompt: Do it., notes: optional}
  - {id: s3, prompt: Do it., notes: optional}
  - {id: s4, prompt: Do it., notes: optional}
  - {id: s5, prompt: Do it., notes: optional}
  - {id: s6, prompt: Do it., notes: optional}
  - {id: s7, prompt: Do it., notes: optional}
  - {id: s8, prompt: Do it., notes: optional}
  - {id: s9, prompt: Do it., notes: optional}
`

// demanding has a step for each kind of requirement.
const demanding = `id: demanding
name: Demanding
capabilities: [{name: shell}]
steps:
  - {id: noted, prompt: Write., notes: required}
  - {id: producing, prompt: Produce., notes: optional, output: {description: A number., schema: {type: object, required: [n], properties: {n: {type: integer}}}}}
  - {id: knowing, prompt: Know., notes: optional, requires: [fact]}
  - {id: asking, prompt: Ask., notes: optional, askUser: {question: "Which?", key: choice}}
  - {id: able, prompt: Be able., notes: optional, capabilities: [shell]}
  - id: each
    loop:
      each: items
      as: item
      maxIterations: 5
      steps:
        - {id: inner, prompt: "Item {{item}}.", notes: optional}
  - {id: last, prompt: End., notes: optional}
`

// homeMark is part of the name of the directory of every place. No answer may contain it. The name has characters that
// end a path in most texts.
const (
	homeMark = "quill" // no token has these letters
	homeName = "Ann's files (" + homeMark + "), {1} old: " + homeMark
)

func newPlace(t testing.TB) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		home = filepath.Join(home, homeName)
	}
	p := &place{t: t, state: filepath.Join(home, "state"), workflows: filepath.Join(home, "workflows")}
	p.flags = []string{"--workflows", p.workflows}
	p.write(filepath.Join(p.workflows, "plain.yaml"), plain)
	p.write(filepath.Join(p.workflows, "demanding.yaml"), demanding)
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// session returns the directory of a session.
func (p *place) session(id string) string { return filepath.Join(p.state, "sessions", id) }

func (p *place) manifest(id string) string { return filepath.Join(p.session(id), "manifest.jsonl") }

// segments returns the segment files of a session, in order.
func (p *place) segments(id string) []string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.session(id), "events", "*.jsonl"))
	if err != nil || len(names) == 0 {
		p.t.Fatalf("no segments: %v", err)
	}
	slices.Sort(names)
	return names
}

// snapshot returns the file of the only stored workflow.
func (p *place) snapshot() string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.state, "snapshots", "*.json"))
	if err != nil || len(names) != 1 {
		p.t.Fatalf("%d snapshots, %v", len(names), err)
	}
	return names[0]
}

// hold takes the lock of a session as another process would; release releases it.
func (p *place) hold(id string) (release func()) {
	p.t.Helper()
	root, err := os.OpenRoot(p.session(id))
	if err != nil {
		p.t.Fatal(err)
	}
	file, err := filelock.Open(root, "lock")
	if err != nil {
		p.t.Fatal(err)
	}
	return func() {
		_ = file.Close()
		_ = root.Close()
	}
}

// walk completes steps of the plain workflow and returns the last answer.
func (s *server) walk(a answer, steps int) answer {
	s.T.Helper()
	for range steps {
		a = s.call("continue_workflow", args{"continueToken": a.token()}).fine()
	}
	return a
}

// steps returns the paths of the completed steps, in order.
func (s *server) steps(id string) []string {
	s.T.Helper()
	a := s.call("export_session", args{"sessionId": id}).fine()
	var done []string
	for e := range a.M.Result().Path("structuredContent", "sound").Elements() {
		if e.Path("kind").Is("step_advanced") {
			step, _ := e.Path("data", "step").Str()
			done = append(done, step)
		}
	}
	return done
}

// healthy requires that a session is undamaged.
func (s *server) healthy(id string) {
	s.T.Helper()
	a := s.call("session_health", args{"sessionId": id}).fine()
	if a.data("health", "kind") != "healthy" {
		s.T.Errorf("session %s: %s", id, a.M.Result().Path("structuredContent").Raw())
	}
}

// replaceIn replaces a text in a file once.
func (p *place) replaceIn(name, before, after string) {
	p.t.Helper()
	text := p.read(name)
	if !strings.Contains(text, before) {
		p.t.Fatalf("%s does not hold %q", name, before)
	}
	p.write(name, strings.Replace(text, before, after, 1))
}

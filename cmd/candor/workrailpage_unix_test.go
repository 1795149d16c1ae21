//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

const railFileBegin = "<!-- the workflow of the transcript -->\n```yaml\n"

// railStory runs the example of docs/workrail.md and records it, with fixed names for values that differ from run to run.
type railStory struct {
	strings.Builder
	t      *testing.T
	home   string
	binary string
	agent  *railClient
	names  map[string]string
	counts map[string]int
}

var (
	railChanging = regexp.MustCompile(`\b(ct|rt)_[0-9a-z]{40}\b|\b[0-9a-f]{16}\b`)
	railClock    = regexp.MustCompile(`\d{4}-\d{2}-\d{2}([ T])\d{2}:\d{2}:\d{2}(\.\d+)?`)
)

// steady replaces tokens, session ids and times by fixed values.
func (s *railStory) steady(text string) string {
	text = railClock.ReplaceAllString(text, "2026-01-02${1}03:04:05")
	return railChanging.ReplaceAllStringFunc(text, func(found string) string {
		if s.names[found] == "" {
			kind := "session"
			if found[2] == '_' {
				kind = found[:3] + "token"
			}
			s.counts[kind]++
			s.names[found] = fmt.Sprintf("%s-%d", kind, s.counts[kind])
		}
		return s.names[found]
	})
}

func (s *railStory) say(text string) { s.WriteString(s.steady(text) + "\n") }

// connect starts a server, as an agent's client does.
func (s *railStory) connect() {
	s.t.Helper()
	var err error
	if s.agent, err = startBench(s.binary, s.home, os.Environ(), "workrail", "--state", "state", "--workflows", "workflows", "--quiet"); err != nil {
		s.t.Fatal(err)
	}
}

// call calls a tool and records the text that a model reads.
func (s *railStory) call(tool string, in map[string]any) *railAnswer {
	s.t.Helper()
	shown, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := s.agent.call(tool, in)
	if err != nil {
		s.t.Fatal(err)
	}
	text := a.Text[0]
	if a.Error {
		text = a.Text[1] // the first block is the same as JSON
	} else if len(a.Text) > 1 {
		text = strings.Join(a.Text, "\n")
	}
	s.say(fmt.Sprintf("agent → %s %s", tool, shown))
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if !strings.HasPrefix(line, "Ref:") {
			s.say(strings.TrimRight("  "+strings.TrimSuffix(line, "\n"), " "))
		}
	}
	return a
}

// TestWorkrailPage runs the example of docs/workrail.md, with the workflow on that page, and compares the output.
func TestWorkrailPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/workrail.md")
	if err != nil {
		t.Fatal(err)
	}
	_, file, ok := strings.Cut(string(data), railFileBegin)
	file, _, ok2 := strings.Cut(file, "```\n")
	if !ok || !ok2 {
		t.Fatal("the page has no workflow")
	}
	s := &railStory{t: t, home: t.TempDir(), binary: filepath.Join(installed(t), term.ProgramName), names: map[string]string{}, counts: map[string]int{}}
	if err := os.MkdirAll(filepath.Join(s.home, "workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.home, "workflows", "tidy-up.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s.play()
	checkTranscript(t, "../../docs/workrail.md", s.String())
}

func (s *railStory) play() {
	s.connect()
	a := s.call("start_workflow", map[string]any{"workflowId": "tidy-up", "goal": "Remove dead code from the parser"})
	a = s.call("continue_workflow", map[string]any{"continueToken": a.token()})
	a = s.call("continue_workflow", map[string]any{"continueToken": a.token(), "notes": "Two files are never imported.",
		"context": map[string]any{"files": []string{"lexer_old.go", "trace.go"}}})

	s.say("\nThe agent's client crashes here. A new conversation knows nothing, and finds the session:\n")
	s.agent.Close(false)
	s.connect()
	s.call("resume_session", map[string]any{})
	a = s.call("resume_session", map[string]any{"resumeToken": a.Data.Resume})

	session := a.Data.Session
	s.say("\nThe agent continues. A token that was used before returns what was recorded, and one that is made up is refused:\n")
	used := a.token()
	a = s.call("continue_workflow", map[string]any{"continueToken": used, "notes": "Removed lexer_old.go; the tests pass."})
	s.call("continue_workflow", map[string]any{"continueToken": used, "notes": "Removed both files."})
	s.call("continue_workflow", map[string]any{"continueToken": "ct_next", "notes": "Removed trace.go; the tests pass."})
	a = s.call("continue_workflow", map[string]any{"continueToken": a.token(), "notes": "Removed trace.go; the tests pass."})
	a = s.call("continue_workflow", map[string]any{"continueToken": a.token(), "output": map[string]any{"removed": 2}})
	if a.Data.Kind != "completed" {
		s.t.Errorf("it ends with %q", a.Text)
	}

	s.say("\nLater a disk loses a bit:\n")
	s.damage(session)
	s.call("session_health", map[string]any{"sessionId": session})
	s.agent.stop()
}

// damage changes one byte of a recorded event.
func (s *railStory) damage(session string) {
	name := filepath.Join(s.home, "state", "sessions", session, "events", "00000004-00000004.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), "lexer", "lexes", 1)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

package term_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func TestTextOfAPeerIsSafeForATerminal(t *testing.T) {
	for text, want := range map[string]string{"\x1b[31m": `\u001b[31m`, "a\nb\tc": `a\nb\tc`, "\u202eevil": `\u202eevil`, "\U000e0001": `\U000e0001`, "naïve, 名": "naïve, 名"} {
		if got := term.Printable(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
	if got := term.Truncate("名前と住所", 3); got != "名前…" {
		t.Errorf("truncated to %q", got)
	}
	if got := term.OneLine(" a\r\n b\tc "); got != "a b c" {
		t.Errorf("one line: %q", got)
	}
}

func TestWordsForPeople(t *testing.T) {
	if got := term.JoinWords([]string{"a", "b", "c"}); got != "a, b or c" {
		t.Error(got)
	}
	word := "CURSOR"
	if !term.MatchFold([]string{"zed", "cursor"}, &word) || word != "cursor" {
		t.Error(word)
	}
	if e := term.Unknown("--client", "cursr", []string{"zed", "cursor"}); !strings.Contains(e.Text, "cursr") || !strings.Contains(e.Hint, "cursor") {
		t.Errorf("%s (%s)", e.Text, e.Hint)
	}
}

// environment returns an environment with an answer at the terminal, and what the program writes.
func environment(answer string) (env *term.Env, out, complaints *bytes.Buffer) {
	out, complaints = &bytes.Buffer{}, &bytes.Buffer{}
	return &term.Env{In: strings.NewReader(answer), Out: term.NewOutput(out, false), Err: complaints, Interactive: true, Terminal: true, Now: func() time.Time { return time.Unix(7, 0) },
		Getenv: func(name string) string { return map[string]string{"TOKEN": "s"}[name] }}, out, complaints
}

func TestErrorsHaveANextStep(t *testing.T) {
	env, _, complaints := environment("")
	cmd := &cobra.Command{Use: "candor"}
	env.Report(cmd, term.BadInput("try x", "%d is bad", 1))
	if got := complaints.String(); got != "candor: 1 is bad\nhint: try x\n" {
		t.Errorf("%q", got)
	}
	if text, hint := term.SplitHint(errors.New("it is bad (hint: try y)")); text != "it is bad" || hint != "try y" {
		t.Errorf("%q, %q", text, hint)
	}
	for name, want := range map[string]string{"": "", "TOKEN": "s", "UNSET": "error"} {
		got, err := env.Secret("--token-env", name)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("the secret %q is %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]int64{"": time.Time{}.Unix(), "now": 7, "1970-01-01T00:00:09Z": 9} {
		if at, err := env.ParseTime(text); err != nil || at.Unix() != want {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
	if _, err := env.ParseTime("soon"); err == nil {
		t.Error("a time was read from soon")
	}
}

func TestConfirmationNeedsAYes(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false} {
		env, _, _ := environment(answer)
		if got, err := env.Confirm(&cobra.Command{}, false, false, "", "Really?"); got != want || err != nil {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
	env, _, _ := environment("")
	env.Interactive = false
	if err := env.RequireYes(false, false, "Really?"); err == nil || env.RequireYes(true, false, "") != nil {
		t.Error("a program that nothing can ask went on without --yes, or not with it")
	}
}

// brokenWriter fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutputKeepsItsFirstError(t *testing.T) {
	out := term.NewOutput(brokenWriter{}, false)
	_, _ = out.Write([]byte("x\n"))
	if err := out.EndLine(); !errors.Is(err, io.ErrClosedPipe) || !errors.Is(out.Flush(), io.ErrClosedPipe) {
		t.Errorf("the error is %v", err)
	}
	var lines bytes.Buffer
	if err := term.WriteJSONLine(&lines, map[string]string{"a": "<&>"}); err != nil || lines.String() != "{\"a\":\"<&>\"}\n" {
		t.Errorf("%q, %v", lines.String(), err)
	}
}

func TestListeningForOtherMachinesNeedsAToken(t *testing.T) {
	for _, c := range []struct {
		listen, token string
		ok            bool
	}{{"127.0.0.1:0", "", true}, {"localhost:1", "", true}, {"0.0.0.0:1", "", false}, {"0.0.0.0:1", "s", true}, {"here", "s", false}} {
		if err := term.CheckListen(c.listen, c.token); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

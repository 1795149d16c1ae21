package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/export"
	"github.com/candor-mcp/candor/ledger/verify"
	"github.com/candor-mcp/candor/wire"
)

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("NOTES_TEST_SERVE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// converse runs the program in a folder with one note, sends lines and returns the answers by their id token.
func converse(t *testing.T, dir string, lines ...string) map[string]wire.Message {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("Buy milk."), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NOTES_TEST_SERVE=1", "CANDOR_LEDGER="+filepath.Join(dir, "ledger"), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var printed bytes.Buffer
	cmd.Stderr = &printed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, printed.String())
	}
	answers := map[string]wire.Message{}
	for line := range bytes.Lines(out) {
		m := wire.Parse(bytes.TrimSpace(line), wire.Limits{})
		if err := m.Err(); err != nil {
			t.Errorf("%v in %s", err, line)
		}
		answers[string(m.ID())] = m
	}
	return answers
}

func TestEveryFailureOfTheExampleIsHonest(t *testing.T) {
	dir := t.TempDir()
	got := converse(t, dir,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":9,"method":`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"name":7}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_note","arguments":{"name":"nothing"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_note","arguments":{"name":"plan"}}}`,
	)
	if len(got) != 5 {
		t.Errorf("%d answers", len(got))
	}
	line, argument, file, fine := got[""], got["1"], got["2"], got["3"]
	if code, _ := line.Error().Path("code").Int64(); code != -32700 {
		t.Errorf("a bad line: %s", line.Bytes())
	}
	failed(t, &argument, "INVALID_ARGUMENTS", "/name", "string")
	failed(t, &file, "FILE_NOT_FOUND", "nothing.md does not exist.")
	if strings.Contains(string(file.Bytes()), dir) {
		t.Errorf("a folder is shown: %s", file.Bytes())
	}
	if text, _ := fine.Result().Path("content", 0, "text").Str(); text != "Buy milk." || fine.Result().Path("isError").Present() {
		t.Errorf("a note that is there: %s", fine.Bytes())
	}
	report, err := verify.Dir(context.Background(), filepath.Join(dir, "ledger"), verify.Options{})
	if err != nil || len(report.Damage) > 0 {
		t.Errorf("the ledger: %v, %v", report.Damage, err)
	}
	if n := failures(t, filepath.Join(dir, "ledger")); n != 3 {
		t.Errorf("%d failures are on record, want 3", n)
	}
}

// failed checks that the answer is a failed result with that code, and that its text contains all the words.
func failed(t *testing.T, m *wire.Message, code string, words ...string) {
	t.Helper()
	envelope := m.Result().Path("_meta", "dev.candor/error")
	text, _ := m.Result().Path("content", 0, "text").Str()
	yes, _ := m.Result().Path("isError").Bool()
	said, _ := envelope.Path("code").Str()
	ref, _ := envelope.Path("ref").Str()
	if !yes || said != code || ref == "" {
		t.Errorf("want %s: %s", code, m.Bytes())
	}
	for _, word := range append(words, code, ref) {
		if !strings.Contains(text, word) {
			t.Errorf("%s: nothing of %q in the text %q", code, word, text)
		}
	}
}

func failures(t *testing.T, dir string) int {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	count, err := export.Count(t.Context(), r, "code", ledger.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return int(count.Failures)
}

// TestReadmeShowsTheExample checks that README.md has this program, and that the program is small.
func TestReadmeShowsTheExample(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(program, []byte("\n")); lines > 30 {
		t.Errorf("the smallest program has %d lines, more than 30", lines)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, append(append([]byte("\n```go\n"), program...), "```\n"...)) {
		t.Error("README.md has no fenced go block that equals examples/notes/main.go, letter by letter")
	}
}

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/testing/sweep"
	"github.com/candor-mcp/candor/ledger"
)

const (
	ledgerPage       = "../../docs/ledger.md"
	ledgerBlockBegin = "```console\n"
	ledgerBlockEnd   = "```\n"
)

// ledgerStory runs the commands of docs/ledger.md in a folder with a ledger.
type ledgerStory struct {
	t     *testing.T
	home  string
	path  string // PATH of the commands
	chain string
}

// TestLedgerPage runs the commands of all transcripts in docs/ledger.md and compares the output. Before each transcript
// the ledger is changed as the page says.
func TestLedgerPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(ledgerPage)
	if err != nil {
		t.Fatal(err)
	}
	s := &ledgerStory{t: t, home: pageHome(t), path: filepath.Dir(shippedCandor(t)) + string(os.PathListSeparator) + os.Getenv("PATH")}
	s.write("gateway", pageDay, 20, 0)
	changes := []func(){func() {}, s.changeLetter, s.cutEnd, s.empty, s.addOld, func() {}, func() {}}
	if got := strings.Count(string(data), ledgerBlockBegin); got != len(changes) {
		t.Fatalf("docs/ledger.md has %d transcripts, want %d", got, len(changes))
	}
	page, rest := "", string(data)
	for _, change := range changes {
		head, tail, _ := strings.Cut(rest, ledgerBlockBegin)
		block, after, _ := strings.Cut(tail, ledgerBlockEnd)
		restore := s.backup()
		change()
		page += head + ledgerBlockBegin + s.play(block) + ledgerBlockEnd
		restore()
		rest = after
	}
	page += rest
	if page == string(data) {
		return
	}
	if !*update {
		t.Fatalf("docs/ledger.md is not what the program says; -update writes it:\n%s", firstOtherLine(string(data), page))
	}
	if err := os.WriteFile(ledgerPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pageHome creates a folder with a path of constant length, because paths are part of entries.
func pageHome(t *testing.T) string {
	t.Helper()
	dir := sweep.MemoryDir(t)
	home := filepath.Join(dir, strings.Repeat("h", max(1, 150-len(dir))))
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

// firstOtherLine returns the first line in which two pages differ.
func firstOtherLine(page, want string) string {
	have, now := strings.Split(page, "\n"), strings.Split(want, "\n")
	for i := range min(len(have), len(now)) {
		if have[i] != now[i] {
			return fmt.Sprintf("line %d of the page: %s\nof the program: %s", i+1, have[i], now[i])
		}
	}
	return "one of them is longer"
}

var (
	ledgerChain  = regexp.MustCompile(`(-\d{8}T\d{9}Z)-[0-9a-f]{8}\b`)
	ledgerCopy   = regexp.MustCompile(`(/checkpoints/ledger)-[0-9a-f]{16}\b`)
	ledgerDigest = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

// steady replaces the values that differ between two runs.
func (s *ledgerStory) steady(text string) string {
	text = strings.ReplaceAll(text, s.home, "/home/me")
	text = ledgerChain.ReplaceAllString(text, "$1-249897ae")
	text = ledgerCopy.ReplaceAllString(text, "$1-5878984548da9796")
	return ledgerDigest.ReplaceAllString(text, "89e2…")
}

// play runs the commands of a transcript and returns it with their present output.
func (s *ledgerStory) play(block string) string {
	s.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(block) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand {
			continue
		}
		cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
		cmd.Dir = s.home
		cmd.Env = []string{"HOME=" + s.home, "PATH=" + s.path, "TZ=UTC", "NO_COLOR=1", "CANDOR_LEDGER=" + s.ledger()}
		said, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			s.t.Fatal(err)
		}
		out.WriteString(line + s.steady(string(said)))
	}
	return out.String()
}

func (s *ledgerStory) ledger() string { return filepath.Join(s.home, "ledger") }

// pageDay is the time of the ledger in docs/ledger.md.
var pageDay = time.Date(2026, 11, 15, 4, 57, 36, 0, time.UTC)

// write adds a chain with failures of two servers. A machine that needs more than a second for it writes a checkpoint
// between them; the chain is then written again.
func (s *ledgerStory) write(instance string, begin time.Time, failures, padding int) {
	s.t.Helper()
	witness, err := ledgerconfig.WitnessCopy(s.ledger(), func(name string) string {
		return map[string]string{"HOME": s.home}[name]
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for range 20 {
		restore := s.backup()
		now := begin
		clock := func() time.Time {
			now = now.Add(time.Millisecond)
			return now
		}
		l, err := ledger.Open(s.ledger(), ledger.Options{Instance: instance, WitnessCopy: witness, OwnWitnessCopy: true, Clock: clock})
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range failures {
			r, err := l.Append(s.t.Context(), ledgerFailure(i, padding))
			if err != nil {
				s.t.Fatal(err)
			}
			s.chain = r.Chain
		}
		early := l.Stats().Checkpoints
		if err := l.Close(); err != nil {
			s.t.Fatal(err)
		}
		if early == 0 {
			return
		}
		restore()
	}
	s.t.Fatal("this machine is too slow to write a few entries within a second")
}

// ledgerFailure returns one of the failures. Every fourth is of another server.
func ledgerFailure(i, padding int) ledger.Entry {
	server, tool := "@modelcontextprotocol/server-filesystem", "read_file"
	if i%4 == 3 {
		server, tool = "mcp-server-git", "git_show"
	}
	e := ledger.EntryOf(candor.New(kaiza.FileNotFound, "", candor.WithTool(tool), candor.WithRef(fmt.Sprintf("%02x1c9a07b3d2e8f41a55", i+0x5c))))
	e.Cause = "open notes.txt: no such file" + strings.Repeat(".", padding)
	e.Latency = 1500 * time.Microsecond
	e.Data = candor.DetailsOf(map[string]string{"upstream": server})
	return e
}

// backup copies the ledger and its witness copy, and returns a function that restores them.
func (s *ledgerStory) backup() (restore func()) {
	s.t.Helper()
	state := filepath.Join(s.home, ".local")
	saved := s.t.TempDir()
	for name, from := range map[string]string{"ledger": s.ledger(), "state": state} {
		if err := os.CopyFS(filepath.Join(saved, name), os.DirFS(from)); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
	}
	return func() {
		for name, to := range map[string]string{"ledger": s.ledger(), "state": state} {
			if err := os.RemoveAll(to); err != nil {
				s.t.Fatal(err)
			}
			if err := os.CopyFS(to, os.DirFS(filepath.Join(saved, name))); err != nil && !os.IsNotExist(err) {
				s.t.Fatal(err)
			}
		}
		s.protect()
	}
}

// protect sets the modes that os.CopyFS does not keep.
func (s *ledgerStory) protect() {
	for name, mode := range map[string]os.FileMode{".": 0o700, "keys/signer.key": 0o600, "keys/digest.key": 0o600} {
		if err := os.Chmod(filepath.Join(s.ledger(), name), mode); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
	}
}

// edit changes a file of the chain.
func (s *ledgerStory) edit(name string, change func([]byte) []byte) {
	s.t.Helper()
	name = filepath.Join(s.ledger(), s.chain, name)
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, change(data), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *ledgerStory) changeLetter() {
	s.edit("audit-log.jsonl", func(log []byte) []byte {
		lines := bytes.SplitAfter(log, []byte("\n"))
		lines[16] = bytes.Replace(lines[16], []byte("notes.txt"), []byte("votes.txt"), 1)
		return bytes.Join(lines, nil)
	})
}

func (s *ledgerStory) cutEnd() {
	s.edit("audit-log.jsonl", func(log []byte) []byte { return bytes.Join(bytes.SplitAfter(log, []byte("\n"))[:11], nil) })
	s.edit("checkpoints", func([]byte) []byte { return nil })
}

func (s *ledgerStory) empty() {
	if err := os.RemoveAll(s.ledger()); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(s.ledger(), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// addOld adds a longer chain that is older than the first.
func (s *ledgerStory) addOld() {
	s.t.Helper()
	at := pageDay.AddDate(0, 0, -1)
	s.write("wrap", at, 12, 6000)
	for _, name := range []string{"audit-log.jsonl", "checkpoints"} {
		if err := os.Chtimes(filepath.Join(s.ledger(), s.chain, name), at, at); err != nil {
			s.t.Fatal(err)
		}
	}
}

//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// session runs candor wrap with a few failures in a home directory and ends it with a signal. It returns the chain it wrote.
func session(t *testing.T, home string, end syscall.Signal, flags ...string) (chain string) {
	t.Helper()
	before := chainsIn(t, home)
	p := launchIn(t, home, append(append([]string{"wrap"}, flags...), "--", "badserver")...)
	for _, id := range []string{"1", "2", "3"} {
		p.fails(id, "NOT_FOUND")
	}
	for _, name := range chainsIn(t, home) {
		if !strings.Contains(strings.Join(before, "\n"), name) {
			chain = name
		}
	}
	if end == syscall.SIGKILL {
		awaitCheckpoint(t, chain)
		awaitWitnessCopy(t, home, chain)
	}
	p.signal(end)
	_ = p.cmd.Wait()
	return chain
}

// awaitWitnessCopy waits until the second checkpoint file covers all entries of a chain except the checkpoint itself.
func awaitWitnessCopy(t *testing.T, home, chain string) {
	t.Helper()
	line := regexp.MustCompile(regexp.QuoteMeta(filepath.Base(chain)) + `: (\d+) entries, \d+ covered by checkpoints, (\d+) by a witness copy`)
	wait.Until(t, "the witness copy", func() bool {
		_, out, _ := verify(home)
		found := line.FindStringSubmatch(out)
		if found == nil {
			return false
		}
		entries, _ := strconv.Atoi(found[1])
		second, _ := strconv.Atoi(found[2])
		return second >= entries-1
	})
}

func chainsIn(t *testing.T, home string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "trail", "*-*Z-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// verify runs candor ledger verify as a user would, without naming the second checkpoint file.
func verify(home string, args ...string) (code int, out, complaints string) {
	return watched("", map[string]string{"HOME": home, "NO_COLOR": "1"}, append([]string{"ledger", "verify", filepath.Join(home, "trail")}, args...)...)
}

// cutWithCheckpoints keeps the first lines of a chain and removes all checkpoints of the others.
func cutWithCheckpoints(t *testing.T, chain string, keep int) {
	t.Helper()
	name := filepath.Join(chain, "audit-log.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	rewrite(t, chain, lines[:keep])
}

// rewrite replaces the entries of a chain by forged lines, and removes its checkpoints and its end.
func rewrite(t *testing.T, chain string, lines []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(chain, "audit-log.jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"checkpoints", "end"} {
		if err := os.Remove(filepath.Join(chain, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// removeEntry removes an entry and all checkpoints from a chain and recomputes the links of the other entries.
func removeEntry(t *testing.T, chain string, seq int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chain, "audit-log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("candor ledger " + filepath.Base(chain)))
	prev, next := hex.EncodeToString(sum[:]), 1
	var lines []string
	for i, line := range strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i+1 == seq || strings.Contains(line, `"kind":"checkpoint"`) {
			continue
		}
		line = regexp.MustCompile(`"seq":\d+`).ReplaceAllString(line, `"seq":`+string(rune('0'+next)))
		line = regexp.MustCompile(`"prev":"[0-9a-f]+"`).ReplaceAllString(line, `"prev":"`+prev+`"`)
		body := line[:strings.LastIndex(line, `,"hash":"`)]
		own := sha256.Sum256([]byte(body))
		prev = hex.EncodeToString(own[:])
		lines = append(lines, body+`,"hash":"`+prev+"\"}\n")
		next++
	}
	rewrite(t, chain, lines)
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestR20RollBackIsFound removes recorded entries together with everything in the folder that proves them.
func TestR20RollBackIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind string
		do   func(t *testing.T, trail, first, second string)
	}{
		"end cut with its checkpoints": {"truncated", func(t *testing.T, _, _, second string) { cutWithCheckpoints(t, second, 2) }},
		"all entries cut":              {"truncated", func(t *testing.T, _, _, second string) { cutWithCheckpoints(t, second, 0) }},
		"entry removed and rehashed":   {"truncated|root-mismatch", func(t *testing.T, _, _, second string) { removeEntry(t, second, 3) }},
		"newest chain removed":         {"missing-chain", func(_ *testing.T, _, _, second string) { _ = os.RemoveAll(second) }},
		"folder of yesterday":          {"missing-chain", func(t *testing.T, trail, _, _ string) { copyTree(t, trail+".yesterday", trail) }},
		"folder wiped": {"missing-chain", func(_ *testing.T, trail, _, _ string) {
			_ = os.RemoveAll(trail)
			_ = os.Mkdir(trail, 0o700)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			trail, key := filepath.Join(home, "trail"), filepath.Join(home, "signer.pub")
			first := session(t, home, syscall.SIGTERM)
			copyTree(t, trail, trail+".yesterday")
			second := session(t, home, syscall.SIGKILL)
			if code, out, complaints := verify(home); code != term.ExitOK || !strings.Contains(out, "by a witness copy") || strings.Contains(complaints, "witness copy") {
				t.Fatalf("before: exit code %d: %s%s", code, out, complaints)
			}
			if code, _, complaints := watched("", nil, "ledger", "key", "export", trail, "--out", key); code != term.ExitOK {
				t.Fatal(complaints)
			}
			c.do(t, trail, first, second)
			code, out, _ := verify(home, "--key", key)
			if code != term.ExitFound || !regexp.MustCompile(`(?m)^FAILED  (`+c.kind+`) `).MatchString(out) || !strings.Contains(out, "FAILED: ") {
				t.Errorf("exit code %d, want %s: %s", code, c.kind, out)
			}
		})
	}
}

// TestR20TimesShowThatCheckpointsWereRemoved removes an entry and all checkpoints when there is no second checkpoint file.
func TestR20TimesShowThatCheckpointsWereRemoved(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := launchIn(t, home, "wrap", "--witness-copy", "none", "--", "badserver")
	p.fails("1", "NOT_FOUND")
	p.fails("2", "NOT_FOUND")
	awaitCheckpoint(t, p.chain())
	time.Sleep(2500 * time.Millisecond) // entries need different times to prove anything
	p.fails("3", "NOT_FOUND")
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait()
	if code, out, _ := verify(home); code != term.ExitOK {
		t.Fatalf("before: exit code %d: %s", code, out)
	}
	removeEntry(t, p.chain(), 2)
	if code, out, _ := verify(home); code != term.ExitFound || !strings.Contains(out, "\nFAILED  checkpoint-missing  ") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestR20NextWriterReportsWipedLedger checks that a ledger that was removed and started again with another key is not taken for the first one.
func TestR20NextWriterReportsWipedLedger(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session(t, home, syscall.SIGTERM)
	if err := os.RemoveAll(filepath.Join(home, "trail")); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := verify(home); code == term.ExitOK || !strings.Contains(complaints, "checkpoints/trail-") || !strings.Contains(complaints, "on purpose, move that file away") {
		t.Errorf("the folder is gone: exit code %d: %s", code, complaints)
	}
	session(t, home, syscall.SIGTERM)
	if code, out, _ := verify(home); code != term.ExitFound || strings.Count(out, "missing-chain") != 1 {
		t.Errorf("exit code %d: %s", code, out)
	}
	// What was removed on purpose is accepted by moving the witness copy away.
	if err := os.Rename(filepath.Join(home, ".local", "state", "candor", "checkpoints"), filepath.Join(home, "aside")); err != nil {
		t.Fatal(err)
	}
	session(t, home, syscall.SIGTERM)
	if code, out, complaints := verify(home); code != term.ExitOK || !strings.Contains(out, "by a witness copy") {
		t.Errorf("moved away: exit code %d: %s%s", code, out, complaints)
	}
}

// TestUnwritableWitnessCopyLosesNothing checks that failures are recorded, one warning is logged, and verify reports what is missing.
func TestUnwritableWitnessCopyLosesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	blocked := filepath.Join(home, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(blocked, "checkpoints")
	p := launchIn(t, home, "wrap", "--witness-copy", place, "--", "badserver")
	p.fails("1", "NOT_FOUND")
	p.said.await("checkpoints are not written to the witness copy", 1)
	p.signal(syscall.SIGTERM)
	if p.ends(); strings.Count(p.said.String(), "checkpoints are not written to the witness copy") != 1 {
		t.Errorf("it said %s", p.said)
	}
	code, out, complaints := verify(home)
	if code != term.ExitOK || !strings.Contains(complaints, "the witness copy "+place+" cannot be read") || !strings.Contains(complaints, "no witness copy was found") {
		t.Errorf("exit code %d: %s%s", code, out, complaints)
	}
}

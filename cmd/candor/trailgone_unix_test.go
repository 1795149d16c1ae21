//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// trailLosses are ways to remove a ledger from a running writer. Each gets the ledger's folder and the folder of the only chain.
func trailLosses() map[string]func(trail, chain string) error {
	log := func(chain string) string { return filepath.Join(chain, "audit-log.jsonl") }
	return map[string]func(trail, chain string) error{
		"log unlinked":       func(_, chain string) error { return os.Remove(log(chain)) },
		"log truncated":      func(_, chain string) error { return os.Truncate(log(chain), 100) },
		"log replaced":       func(_, chain string) error { return replaceByCopy(log(chain)) },
		"log appended to":    func(_, chain string) error { return appendTo(log(chain), "x\n") },
		"lock unlinked":      func(_, chain string) error { return os.Remove(filepath.Join(chain, "lock")) },
		"checkpoints gone":   func(_, chain string) error { return os.Remove(filepath.Join(chain, "checkpoints")) },
		"chain removed":      func(_, chain string) error { return os.RemoveAll(chain) },
		"folder removed":     func(trail, _ string) error { return os.RemoveAll(trail) },
		"folder replaced":    func(trail, _ string) error { return remake(trail) },
		"folder is now file": func(trail, _ string) error { return fileInstead(trail) },
	}
}

func replaceByCopy(name string) error {
	if err := copyFile(name, name+".copy"); err != nil {
		return err
	}
	return os.Rename(name+".copy", name)
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}

func remake(dir string) error {
	if err := os.Rename(dir, dir+".old"); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

func fileInstead(dir string) error {
	if err := os.Rename(dir, dir+".old"); err != nil {
		return err
	}
	return os.WriteFile(dir, nil, 0o600)
}

// TestR19WrapReportsRemovedLedger requires AUDIT_LOG_FAILED for the first failure after the ledger was removed, and that recording
// resumes by itself, in a chain from which verify can detect the loss.
func TestR19WrapReportsRemovedLedger(t *testing.T) {
	t.Parallel()
	for name, lose := range trailLosses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "wrap", "--", "badserver")
			p.fails("1", "NOT_FOUND")
			awaitCheckpoint(t, p.chain())
			if err := lose(p.trail, p.chain()); err != nil {
				t.Fatal(err)
			}
			p.fails("2", "AUDIT_LOG_FAILED")
			if name == "folder is now file" {
				p.fails("3", "AUDIT_LOG_FAILED")
				if err := os.Remove(p.trail); err != nil {
					t.Fatal(err)
				}
			}
			p.fails("4", "NOT_FOUND")
			p.signal(syscall.SIGTERM)
			_ = p.cmd.Wait()
			if codes := p.recorded(); codes["NOT_FOUND"] == 0 {
				t.Errorf("recorded %v", codes)
			}
			report, err := ledgerverify.Dir(context.Background(), p.trail, ledgerverify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// These lose no acknowledged entry: a copy has them all, and entries contain checkpoints too.
			harmless := map[string]bool{"lock unlinked": true, "log replaced": true, "log appended to": true, "checkpoints gone": true}
			if report.OK != harmless[name] {
				t.Errorf("verify says OK: %v, %v", report.OK, report.Damage)
			}
		})
	}
}

// The closing line counts unrecorded failures separately, because they are not in a ledger.
func TestClosingLineNamesUnrecordedFailures(t *testing.T) {
	t.Parallel()
	p := launch(t, "wrap", "--", "badserver")
	p.fails("1", "NOT_FOUND")
	awaitCheckpoint(t, p.chain())
	if err := fileInstead(p.trail); err != nil {
		t.Fatal(err)
	}
	p.fails("2", "AUDIT_LOG_FAILED")
	p.fails("3", "AUDIT_LOG_FAILED")
	p.signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
	if want := "candor wrap: badserver: 3 calls, 1 failure (NOT_FOUND 1), recorded in " + p.trail + "; 2 failures NOT recorded (AUDIT_LOG_FAILED 2)\n"; !strings.Contains(p.said.String(), want) {
		t.Errorf("it said %s", p.said)
	}
}

// fails makes a call that fails and requires a code in the answer.
func (p *process) fails(id, code string) {
	p.t.Helper()
	p.say(toolCall(id, "fail"))
	if answer := p.hear(); !strings.Contains(answer, fmt.Sprintf(`"code":%q`, code)) {
		p.t.Fatalf("call %s was answered %.120s, want %s; it said %s", id, answer, code, p.said)
	}
}

// chain returns the folder of the only chain.
func (p *process) chain() string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.trail, "*-*Z-*"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("chains %v, %v", found, err)
	}
	return found[0]
}

// awaitCheckpoint waits until a checkpoint covers all entries of a chain.
func awaitCheckpoint(t *testing.T, chain string) {
	t.Helper()
	wait.Until(t, "a checkpoint", func() bool {
		data, err := os.ReadFile(filepath.Join(chain, "audit-log.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		return strings.Contains(lines[len(lines)-1], `"kind":"checkpoint"`)
	})
}

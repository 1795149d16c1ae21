package kaiza_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// env is the environment of a server: a root with a workspace in it, and a state folder beside it.
type env struct {
	t     testing.TB
	root  string // --root
	work  string // the workspace, root/work
	state string
	env   []string // additional variables, for every start

	flags  []string // additional flags, for every server
	ledger string   // the folder of the trail; "" for the one in the state folder
	last   *stdio   // the server that was started last
}

func newEnv(t testing.TB) *env {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &env{t: t, root: filepath.Join(home, "root"), work: filepath.Join(home, "root", "work"), state: filepath.Join(home, "state")}
	if err := os.MkdirAll(filepath.Join(p.work, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("src/hello.txt", "hello\nworld\n")
	return p
}

// file returns the path of a file in the workspace.
func (p *env) file(name string) string { return filepath.Join(p.work, filepath.FromSlash(name)) }

// write writes a file to the workspace directly, without the server.
func (p *env) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.file(name)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.file(name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the content of a file of the workspace and whether it exists.
func (p *env) read(name string) (string, bool) {
	data, err := os.ReadFile(p.file(name))
	return string(data), err == nil
}

// candor runs another command of the program in this environment.
func (p *env) candor(args ...string) (out string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), binary, args...)
	cmd.Env = append(servertest.Env(), p.env...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// approve approves a plan as the operator.
func (p *env) approve(hash string) {
	p.t.Helper()
	if out, code := p.candor("workbench", "approve", hash, "--root", p.work, "--state", p.state, "--yes", "--by", "tester"); code != 0 {
		p.t.Fatalf("approving: %d %s", code, out)
	}
}

// planText returns a plan that covers the given globs.
func planText(scope ...string) string {
	return "---\ntitle: A test\nscope:\n  - " + strings.Join(scope, "\n  - ") + "\n---\n# What\n\nChange what the scope says.\n"
}

// approved writes an approved plan for the globs into the workspace and returns its hash. It writes the same files as
// submit_plan and approve, without starting a server.
func (p *env) approved(scope ...string) string {
	p.t.Helper()
	content := []byte(planText(scope...))
	hash := plan.Hash(content)
	p.write("docs/plans/"+plan.Name(hash), string(plan.Render(content, hash, plan.StatusApproved)))
	p.must(os.MkdirAll(p.state, 0o700))
	state, err := os.OpenRoot(p.state)
	p.must(err)
	defer state.Close() //nolint:errcheck // a folder
	approvals, err := plan.Open(state)
	p.must(err)
	p.must(approvals.Approve(plan.Approval{Plan: hash, Root: plan.RootDigest(p.work), By: "tester", At: time.Now()}))
	return hash
}

// ledgerDir returns the folder of the trail.
func (p *env) ledgerDir() string {
	if p.ledger != "" {
		return p.ledger
	}
	return filepath.Join(p.state, "ledger")
}

// entries returns the entries of the trail.
func (p *env) entries() []ledger.Record {
	p.t.Helper()
	r, err := ledger.OpenReader(p.ledgerDir())
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // opened for reading
	var all []ledger.Record
	for line, err := range r.Entries(p.t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		record, err := line.Record()
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}

// recorded counts the entries of a kind.
func (p *env) recorded(kind ledger.Kind) (n int) {
	p.t.Helper()
	for _, e := range p.entries() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// verify verifies the trail like an auditor.
func (p *env) verify() {
	p.t.Helper()
	report, err := ledgerverify.Dir(context.Background(), p.ledgerDir(), ledgerverify.Options{})
	if err != nil || !report.OK {
		harms, _ := json.Marshal(report.Damage)
		p.t.Errorf("the trail does not verify: %v %s", err, harms)
	}
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// tree returns the names in a folder with the content of files and the targets of links.
func tree(t testing.TB, dir string, but ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		for _, left := range but {
			if rel == left {
				return filepath.SkipDir
			}
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		found[rel] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			found[rel] += string(data)
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			found[rel] += to
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unlocked writes a report if the session is locked.
func (c *client) unlocked(name string) {
	c.t.Helper()
	if c.lockedBy() != "" {
		c.report(name)
	}
}

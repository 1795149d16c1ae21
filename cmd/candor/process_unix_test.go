//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// process is a running candor with a separate ledger.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines *bufio.Scanner // reads out
	said  *said          // standard error
	trail string

	cookies http.CookieJar // of the browser that has used the link to the console
}

// launch starts candor in a new folder, with the bad server in its PATH.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	return launchIn(t, t.TempDir(), args...)
}

// launchIn starts candor with a home directory that an earlier start may have used.
func launchIn(t *testing.T, home string, args ...string) *process {
	t.Helper()
	bin := installed(t)
	p := &process{t: t, said: &said{more: make(chan struct{}, 1)}, trail: filepath.Join(home, "trail")}
	p.cmd = exec.CommandContext(t.Context(), filepath.Join(bin, term.ProgramName), args...)
	p.cmd.Dir, p.cmd.Stderr = home, p.said
	p.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "CANDOR_LEDGER="+p.trail, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(p.out)
	p.cmd.WaitDelay = time.Minute
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before its folder is removed; it may have ended
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

func (p *process) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("%v; it said %s", err, p.said)
	}
}

func (p *process) hear() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("no more answers; it said %s", p.said)
	}
	return p.lines.Text()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end, and checks that the ledger was closed properly. It returns the exit code.
func (p *process) ends() int {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.out) // Wait requires that the output is read
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	}
	checkClosed(p.t, p.trail)
	return p.cmd.ProcessState.ExitCode()
}

// checkClosed checks that a ledger is complete and was closed properly.
func checkClosed(t *testing.T, trail string) {
	t.Helper()
	report, err := ledgerverify.Dir(context.Background(), trail, ledgerverify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, harm := range report.Damage {
		t.Errorf("harm: %s", harm)
	}
	for _, chain := range report.Chains {
		if !chain.Closed {
			t.Errorf("chain %s is not closed", chain.Chain)
		}
	}
}

// recorded returns the number of failures in the ledger by code.
func (p *process) recorded() map[string]int {
	p.t.Helper()
	r, err := ledger.OpenReader(p.trail)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	codes := map[string]int{}
	for line, err := range r.Entries(p.t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure {
			continue
		}
		record, err := line.Record()
		if err != nil {
			p.t.Fatal(err)
		}
		codes[record.Code]++
	}
	return codes
}

// said collects the standard error of a process.
type said struct {
	mu   sync.Mutex
	text []byte // guarded by mu
	more chan struct{}
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.text = append(s.text, b...)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// await waits until text has appeared the given number of times. Only the deadline of the test applies.
func (s *said) await(text string, times int) {
	for strings.Count(s.String(), text) < times {
		<-s.more
	}
}

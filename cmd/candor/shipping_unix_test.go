//go:build unix

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/ledger"
)

// fleetRig is a home directory with a ledger that is shipped to a folder.
type fleetRig struct {
	t           *testing.T
	home, store string
}

func newFleetRig(t *testing.T) fleetRig {
	t.Helper()
	home := t.TempDir()
	return fleetRig{t, home, filepath.Join(home, "store")}
}

// url returns the URL of the store for a server.
func (r fleetRig) url(parameters string) string {
	return "file:" + r.store + "?node=n&dir=" + filepath.Join(r.home, "trail") + parameters
}

// ship runs candor fleet ship --once.
func (r fleetRig) ship() (code int, out, complaints string) {
	r.t.Helper()
	return r.candor("fleet", "ship", "--once", filepath.Join(r.home, "trail"), "file:"+r.store+"?node=n")
}

// candor runs a command and returns its exit code, output and messages.
func (r fleetRig) candor(args ...string) (code int, out, complaints string) {
	r.t.Helper()
	p := launchIn(r.t, r.home, args...)
	var text strings.Builder
	for p.lines.Scan() {
		text.WriteString(p.lines.Text() + "\n")
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), text.String(), p.said.String()
}

// same fails the test unless the store has exactly the lines of the folder.
func (r fleetRig) same() {
	r.t.Helper()
	at, err := fleet.ParseLocation("file:" + r.store)
	if err != nil {
		r.t.Fatal(err)
	}
	store, err := filestore.Engine{}.Open(r.t.Context(), at, fleet.OpenOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // only read
	reader, err := ledger.OpenReader(filepath.Join(r.home, "trail"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // only read
	names, err := reader.Chains()
	if err != nil || len(names) == 0 {
		r.t.Fatal(names, err)
	}
	for _, name := range names {
		var want, got [][]byte
		for line, err := range reader.Entries(r.t.Context(), ledger.ReadOptions{Chain: name}) {
			if err != nil {
				r.t.Fatal(err)
			}
			want = append(want, slices.Clone(line.Raw()))
		}
		for line, err := range store.Lines(context.Background(), fleet.Chain{Node: "n", Name: name}, 0) {
			if err != nil {
				r.t.Fatal(err)
			}
			got = append(got, slices.Clone(line.Line))
		}
		if !slices.EqualFunc(want, got, bytes.Equal) {
			r.t.Errorf("chain %s has %d lines here and %d in the store", name, len(want), len(got))
		}
	}
}

func TestWrapAnswersWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	r := newFleetRig(t)
	if err := os.WriteFile(r.store, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launchIn(t, r.home, "wrap", "--ledger", r.url(""), "--", "badserver")
	for id := range 5 {
		p.fails(strconv.Itoa(id+1), "NOT_FOUND")
	}
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%v; it said %s", err, p.said)
	}
	for _, want := range []string{"the store cannot be reached", "entries of the ledger in"} {
		if !strings.Contains(p.said.String(), want) {
			t.Errorf("it did not say %q: %s", want, p.said)
		}
	}
	if err := os.Remove(r.store); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := r.candor("fleet", "setup", "file:"+r.store); code != term.ExitOK {
		t.Fatal(complaints)
	}
	if code, out, complaints := r.ship(); code != term.ExitOK || !strings.Contains(out, "shipped to") {
		t.Fatal(code, out, complaints)
	}
	r.same()
}

func TestWrapRefusesToStartWithoutTheStoreItMustWaitFor(t *testing.T) {
	t.Parallel()
	r := newFleetRig(t)
	if err := os.WriteFile(r.store, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launchIn(t, r.home, "wrap", "--ledger", r.url("&ack=both"), "--", "badserver")
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.said.String(), "cannot be used") {
		t.Errorf("ack=both: %v; it said %s", err, p.said)
	}
	if err := os.Remove(r.store); err != nil {
		t.Fatal(err)
	}
	p = launchIn(t, r.home, "wrap", "--ledger", r.url("&ack=quorum"), "--", "badserver")
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.said.String(), "majority of at least three machines") || !strings.Contains(p.said.String(), "hint: ") {
		t.Errorf("ack=quorum: %v; it said %s", err, p.said)
	}
}

// TestWrapKilledWhileShippingLosesAndRepeatsNothing kills the process at random moments. Answers that a client got are in the ledger, and
// in the end the store has exactly the lines of the ledger.
func TestWrapKilledWhileShippingLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"local", "both"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newFleetRig(t)
			for round := range 5 {
				p := launchIn(t, r.home, "wrap", "--ledger", r.url("&ack="+mode), "--", "badserver")
				for id := range 1 + rand.IntN(5) {
					p.fails(strconv.Itoa(id+1), "NOT_FOUND")
				}
				if round == 4 {
					_ = p.in.Close()
				} else {
					time.Sleep(rand.N(20 * time.Millisecond)) // the moment at which it is killed
					p.signal(syscall.SIGKILL)
				}
				_ = p.cmd.Wait()
			}
			if code, out, complaints := r.ship(); code != term.ExitOK {
				t.Fatal(code, out, complaints)
			}
			r.same()
			if code, out, complaints := verify(r.home); code != term.ExitOK {
				t.Error(code, out, complaints)
			}
		})
	}
}

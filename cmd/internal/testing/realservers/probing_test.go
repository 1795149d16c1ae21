package realservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// Limits for a run of probe.
const (
	probeLimit   = 60 * time.Second // for one run
	probeSeed    = "1"
	probePerCall = "4s" // for one call; a tool that waits on purpose takes this long each time
)

// Probing has the programs and recordings needed to run `candor probe` on servers.
type Probing struct {
	Box       conformance.Toolbox
	Candor    string     // path of the candor command
	Successes Recordings // nil without recordings
}

// look is one run of probe.
type look struct {
	run    *probe.Run
	report *probe.Report
	took   time.Duration
}

// Probe probes one server directly, then behind `candor wrap` with the learnt profile, then directly again. It works in
// dir, which must be empty. It returns an error if the server is missing or probe could not be run. Problems with the
// results are in the audit.
func (p Probing) Probe(ctx context.Context, s Server, dir string) (Audit, error) {
	audit := Audit{Name: s.Name, Version: s.Version}
	g := probeGround{Ground: NewGround(dir), dir: dir, server: s, seal: NewSeal(dir), candor: p.Candor}
	audit.Sealed = g.seal.Closed
	line, err := s.Command(ctx, p.Box, g.Ground.dir)
	if err != nil {
		return audit, err
	}
	line = g.seal.Line(line)
	profile, written, trail := filepath.Join(dir, "profile.yaml"), filepath.Join(dir, "written"), filepath.Join(dir, "ledger")
	wrapped := slices.Concat([]string{p.Candor, "wrap", "--quiet", "--profile", profile, "--ledger", trail, "--",
		"sh", "-c", `"$@" | tee -a "$0"`, written}, line)
	looks := []struct {
		how   string
		line  []string
		flags []string
	}{{"directly", line, []string{"--profile-out", profile}}, {"wrapped", wrapped, nil}, {"directly again", line, nil}}
	var seen [3]look
	for i, l := range looks {
		if seen[i], err = g.look(ctx, fmt.Sprintf("look-%d", i), l.line, l.flags); err != nil {
			return audit, fmt.Errorf("%s, %s: %w", s.Name, l.how, err)
		}
		audit.Seconds[i] = seen[i].took.Seconds()
		audit.holdRun(l.how, seen[i], g.Leftovers())
	}
	said, err := readAnswers(written)
	if err != nil {
		return audit, err
	}
	recorded, err := recordedRefs(ctx, trail)
	if err != nil {
		return audit, err
	}
	audit.describe(seen[0], seen[1])
	audit.holdLife(seen[0].run, seen[1].run)
	audit.holdGrades(seen[0].report, seen[1].report)
	audit.holdSuccesses(seen[0].run, seen[1].run, said)
	audit.holdFailures(seen[1].run, said, recorded)
	audit.holdFindings(seen[0].report, seen[2].report)
	if err := audit.holdRecordedSuccesses(ctx, profile, p.Successes[s.Name]); err != nil {
		return audit, err
	}
	audit.Profile, err = rulesIn(profile)
	return audit, err
}

// probeGround is the directory in which one server is probed.
type probeGround struct {
	Ground
	dir    string
	server Server
	seal   Seal
	candor string
}

// look runs probe once.
func (g probeGround) look(ctx context.Context, name string, line, flags []string) (look, error) {
	if err := g.prepare(); err != nil {
		return look{}, err
	}
	runFile, reportFile := filepath.Join(g.dir, name+".run"), filepath.Join(g.dir, name+".json")
	args := []string{"probe", "--quiet", "--seed", probeSeed, "--timeout", probePerCall, "--fail-on", "never", "--format", "json",
		"--out", reportFile, "--record", runFile, "--env", g.Marker, "--env", "TZ=UTC"}
	// Tools with dangerous effects are called only in a closed seal.
	if !g.server.Careful || g.seal.Closed {
		args = append(args, "--yes")
	}
	for _, variable := range g.server.Env {
		args = append(args, "--env", strings.ReplaceAll(variable, groundWord, g.Ground.dir))
	}
	cmd := exec.CommandContext(ctx, g.candor, slices.Concat(args, flags, []string{"--"}, line)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that probe stops the server
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "TMPDIR=" + g.dir, "LANG=C.UTF-8"}
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	err := cmd.Run()
	seen := look{took: time.Since(begun)}
	if err != nil {
		return seen, fmt.Errorf("%w: %s", err, shown(g.hide(said.String())))
	}
	seen.run = new(probe.Run)
	text, err := os.ReadFile(runFile)
	if err == nil {
		err = json.Unmarshal(text, seen.run)
	}
	if err != nil {
		return seen, err
	}
	if text, err = os.ReadFile(reportFile); err == nil {
		seen.report, err = report.Read(text)
	}
	return seen, err
}

// rulesIn counts the rules of a profile.
func rulesIn(name string) (int, error) {
	text, err := os.ReadFile(name)
	return bytes.Count(text, []byte("\n  - tool: ")), err
}

// Recordings are calls of the corpus, by server.
type Recordings map[string][]corpus.Record

// LoadRecordings reads a file of the corpus. It returns [corpus.ErrAbsent] if there are no recordings.
func LoadRecordings(name string) (Recordings, error) {
	records, err := corpus.Load(name)
	if err != nil {
		return nil, err
	}
	all := Recordings{}
	for _, r := range records {
		all[r.Server] = append(all[r.Server], r)
	}
	return all, nil
}

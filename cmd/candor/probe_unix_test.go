//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// probing runs candor probe and returns its report. The flags come before the target.
func probing(t *testing.T, args ...string) *probe.Report {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), shippedCandor(t), append([]string{"probe", "--quiet", "--fail-on", "never", "--format", "json", "--out", out}, args...)...)
	cmd.Dir = t.TempDir()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func shippedCandor(t *testing.T) string { return filepath.Join(installed(t), term.ProgramName) }

// zooProbe probes a defect with the transport that shows it: over HTTP the probe uses the newest version, over a pipe one with sessions.
func zooProbe(t *testing.T, d zoo.Defect) *probe.Report {
	t.Helper()
	flags := []string{"--timeout", "2s"}
	switch {
	case strings.HasPrefix(d.ID, "up-"):
		// One of these tools changes data, and is really called only with permission.
		return probing(t, append(flags, "--allow", d.Tool, "--fake-upstream", "--", shippedCandor(t), "zoo", "--defect", d.ID, "--upstream", "http://api.example.com/records")...)
	case d.Transport == "http" || d.Protocol == "2026-07-28":
		return probing(t, append(flags, "--url", zooAddress(t, d.ID))...)
	}
	return probing(t, append(flags, "--", shippedCandor(t), "zoo", "--defect", d.ID, "--deadline", "2s")...)
}

// zooAddress serves a defect over HTTP.
func zooAddress(t *testing.T, defect string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shippedCandor(t), "zoo", "--listen", "127.0.0.1:0", "--defect", defect)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return strings.TrimSpace(at)
		}
	}
	t.Fatal("the zoo does not listen")
	return ""
}

// TestProbeFindsEachZooDefect runs the shipped probe against the shipped zoo, one defect at a time: those that package zoo cannot show
// without processes, or all with -all.
func TestProbeFindsEachZooDefect(t *testing.T) {
	process := []string{"oversize-dies", "banner", "keeps-on", "malformed-dies"}
	for _, d := range zoo.Defects() {
		if sweep.Step(2, 2) != 1 && d.Transport != "http" && !slices.Contains(process, d.ID) {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(d.ID, "up-") && fakeupstream.Available() != nil {
				return // the package of the fake upstream has a test that explains why
			}
			r := zooProbe(t, d)
			want := slices.Sorted(slices.Values(append([]string{d.Rule + " " + d.Tool}, also(d)...)))
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Rule+" "+f.Tool)
			}
			if diff := cmp.Diff(want, slices.Compact(slices.Sorted(slices.Values(got)))); diff != "" {
				t.Errorf("(- planted, + found)\n%s", diff)
			}
		})
	}
}

func also(d zoo.Defect) (out []string) {
	for _, rule := range d.Also {
		out = append(out, rule+" "+d.Tool)
	}
	return out
}

// TestLearntProfileRaisesGrade probes, learns, wraps and probes again, and checks that the grade rises and the gateway accepts the profile.
func TestLearntProfileRaisesGrade(t *testing.T) {
	t.Parallel()
	server := []string{shippedCandor(t), "zoo", "--defect", "masked-*"}
	learnt := filepath.Join(t.TempDir(), "masking.yaml")
	before := probing(t, append([]string{"--timeout", "2s", "--profile-out", learnt, "--"}, server...)...)
	text, err := os.ReadFile(learnt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.ParseProfile(learnt, text); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	after := probing(t, append([]string{"--timeout", "2s", "--", shippedCandor(t), "wrap", "--quiet", "--ledger", "none", "--profile", learnt, "--"}, server...)...)
	grades := func(r *probe.Report) map[string]probe.Grade {
		out := map[string]probe.Grade{}
		for _, tool := range r.Tools {
			out[tool.Tool] = tool.Grade
		}
		return out
	}
	was, is := grades(before), grades(after)
	for tool, grade := range was {
		if is[tool] > grade { // a later letter is a lower grade
			t.Errorf("%s fell from %s to %s", tool, grade, is[tool])
		}
	}
	if after.Grade >= before.Grade || after.Masked >= before.Masked {
		t.Errorf("from %s with %d masked to %s with %d: %v", before.Grade, before.Masked, after.Grade, after.Masked, after.Findings)
	}
}

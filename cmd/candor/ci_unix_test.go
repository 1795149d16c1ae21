//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

const ciPage = "../../docs/ci.md"

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readNamed(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readNamed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type hook struct {
	ID, Entry, Language string
	Args, Stages, Types []string
	Dependencies        []string `yaml:"additional_dependencies"`
}

// command returns the command line of a hook, as pre-commit makes it: the words of the entry, then the arguments.
func (h *hook) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	words := append(strings.Fields(h.Entry), args...)
	if words[0] != term.ProgramName {
		t.Fatalf("entry %s", h.Entry)
	}
	return exec.CommandContext(t.Context(), shippedCandor(t), words[1:]...)
}

func readHooks(t *testing.T) map[string]*hook {
	t.Helper()
	var list []*hook
	readYAML(t, "../../.pre-commit-hooks.yaml", &list)
	hooks := map[string]*hook{}
	for _, h := range list {
		hooks[h.ID] = h
	}
	var config struct{ Repos []struct{ Hooks []hook } }
	readYAML(t, "../../examples/ci/pre-commit-config.yaml", &config)
	for _, h := range config.Repos[0].Hooks {
		if hooks[h.ID] == nil {
			t.Fatalf("pre-commit-config.yaml uses the hook %s, which does not exist", h.ID)
		}
	}
	return hooks
}

func TestProbeHookFailsOnRegressions(t *testing.T) {
	t.Parallel()
	h := readHooks(t)["candor-probe"]
	if !slices.Equal(h.Stages, []string{"manual"}) {
		t.Errorf("stages %v", h.Stages)
	}
	dir, candor := t.TempDir(), shippedCandor(t)
	probe := func(want int, defects ...string) {
		args := []string{"--", candor, "zoo", "--defect", "masked-flag"}
		cmd := h.command(t, append(args, defects...)...)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Errorf("want exit code %d: %v: %s", want, err, said)
		}
	}
	probe(2) // no baseline yet
	// The command of the page creates it.
	line := regexp.MustCompile(`(?m)^candor (probe .* --out \.candor/baseline\.json) -- node dist/index\.js$`).FindStringSubmatch(readNamed(t, ciPage))
	if line == nil {
		t.Fatal("docs/ci.md does not say how to write the baseline")
	}
	if err := os.Mkdir(filepath.Join(dir, ".candor"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), candor, append(strings.Fields(line[1]), "--", candor, "zoo", "--defect", "masked-flag")...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	probe(0)
	probe(1, "--defect", "leak-token")
}

// TestGitLabJobWritesItsReports runs the script of the job in sh, as a runner does, with a npm that installs nothing.
func TestGitLabJobWritesItsReports(t *testing.T) {
	t.Parallel()
	var file map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct {
			When    string
			Reports struct{ JUnit string }
		}
	}
	readYAML(t, "../../examples/ci/gitlab.yml", &file)
	job := file["candor-probe"]
	dir, candor := t.TempDir(), shippedCandor(t)
	bin := t.TempDir()
	writeFile(t, filepath.Join(bin, "npm"), "#!/bin/sh\necho npm \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "npm"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		server, failOn, baseline string
		want                     int
	}{
		{candor + " zoo --defect masked-flag", "major", "", 1},
		{candor + " zoo --defect masked-flag", "major", "candor/report.json", 0},
		{"no-such-command-anywhere", "never", "", 2},
	} {
		job.Variables["CANDOR_SERVER"], job.Variables["CANDOR_FAIL_ON"], job.Variables["CANDOR_BASELINE"] = c.server, c.failOn, c.baseline
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.Join(job.Script, "\n"))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+filepath.Dir(candor)+":"+os.Getenv("PATH"))
		for name, value := range job.Variables {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.want || !strings.Contains(string(said), "candor-mcp@latest") {
			t.Errorf("%v: want exit code %d: %v: %s", c, c.want, err, said)
		}
	}
	if report := readIfThere(t, filepath.Join(dir, job.Artifacts.Reports.JUnit)); !strings.Contains(report, "<testsuites>") || job.Artifacts.When != "always" {
		t.Errorf("no report at %q, kept %s", job.Artifacts.Reports.JUnit, job.Artifacts.When)
	}
}

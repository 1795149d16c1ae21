//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

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

// TestCIPageShowsTheExamples compares the blocks of docs/ci.md with the files that they show, and its tables with action.yml.
func TestCIPageShowsTheExamples(t *testing.T) {
	t.Parallel()
	page := readNamed(t, ciPage)
	files, err := filepath.Glob("../../examples/ci/*")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !strings.Contains(page, "```yaml\n"+readNamed(t, file)+"```\n") || !strings.Contains(page, "(../examples/ci/"+filepath.Base(file)+")") {
			t.Errorf("docs/ci.md does not show %s, letter by letter", filepath.Base(file))
		}
	}
	a := readAction(t)
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `") {
			rows++
		}
	}
	if rows != len(a.Inputs)+len(a.Outputs) {
		t.Errorf("%d rows, %d inputs and %d outputs", rows, len(a.Inputs), len(a.Outputs))
	}
	for name, input := range a.Inputs {
		value := input.Default
		if value != "" {
			value = "`" + value + "`"
		}
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", name, value, input.Description); !strings.Contains(page, row) {
			t.Errorf("docs/ci.md has no row %s", row)
		}
	}
	for name, output := range a.Outputs {
		if row := fmt.Sprintf("| `%s` | %s |\n", name, output.Description); !strings.Contains(page, row) {
			t.Errorf("docs/ci.md has no row %s", row)
		}
	}
	var workflow struct {
		Jobs map[string]struct{ Steps []actionStep }
	}
	readYAML(t, "../../examples/ci/github.yml", &workflow)
	steps := workflow.Jobs["probe"].Steps
	last := steps[len(steps)-1]
	if !strings.HasPrefix(last.Uses, "candor-mcp/candor@") || last.With["command"] == "" {
		t.Errorf("the last step uses %q with %v", last.Uses, last.With)
	}
	for name := range last.With {
		if _, found := a.Inputs[name]; !found {
			t.Errorf("github.yml uses the input %s, which action.yml does not have", name)
		}
	}
}

var candorCommand = regexp.MustCompile(`(?:^|[\s"])(?:npx -y candor-mcp|candor|"\$CANDOR") (probe|vet|version)\b([^|>\n]*)`)

// TestCICommandsExist checks every command in the page, the examples, the hooks and the action, with its flags.
func TestCICommandsExist(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, file := range []string{ciPage, "../../action.yml", "../../.pre-commit-hooks.yaml", "../../examples/ci/gitlab.yml"} {
		text := readNamed(t, file)
		for _, m := range candorCommand.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[2])
			if i := slices.Index(words, "--"); i >= 0 {
				words = words[:i]
			}
			command := []string{m[1]}
			if len(words) > 0 && slices.Contains([]string{"badge", "diff", "rules"}, words[0]) {
				command = append(command, words[0])
			}
			code, help, _ := watched("", nil, append(command, "--help")...)
			if code != term.ExitOK {
				t.Errorf("%s: no command %v", filepath.Base(file), command)
			}
			for _, word := range words {
				if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") && !regexp.MustCompile(`(?m)^ +(-\w, )?`+flag+`( |$)`).MatchString(help) {
					t.Errorf("%s: candor %s has no flag %s", filepath.Base(file), strings.Join(command, " "), flag)
				}
				checked++
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d words were checked", checked)
	}
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

// TestHooksBuildTheProgram checks what pre-commit runs after go install ./..., which does not build a program of another module.
func TestHooksBuildTheProgram(t *testing.T) {
	t.Parallel()
	for id, h := range readHooks(t) {
		if h.Language != "golang" || len(h.Dependencies) != 1 {
			t.Fatalf("%s: language %s, dependencies %v", id, h.Language, h.Dependencies)
		}
		cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Name}} {{.Target}}", h.Dependencies[0])
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "main ") || filepath.Base(strings.TrimSpace(string(out))) != term.ProgramName {
			t.Errorf("%s: %s is %s, %v", id, h.Dependencies[0], out, err)
		}
	}
}

func TestVetHookFindsHiddenFailures(t *testing.T) {
	t.Parallel()
	h := readHooks(t)["candor-vet"]
	dir := t.TempDir()
	if err := stubModules(dir); err != nil {
		t.Fatal(err)
	}
	module, err := txtar.ParseFile("testdata/vet/find.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range module.Files {
		if f.Name == "go.mod" || f.Name == "server.go" {
			writeFile(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	vet := func(want int) {
		cmd := h.command(t, h.Args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
		if said, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Errorf("want exit code %d: %v: %s", want, err, said)
		}
	}
	vet(1)
	writeFile(t, filepath.Join(dir, "server.go"), "package server\n")
	vet(0)
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

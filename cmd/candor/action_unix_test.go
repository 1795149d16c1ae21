//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is the part of action.yml that the runner of GitHub executes.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID, Name, Shell, Run, Uses, If string
	Env, With                      map[string]string
}

func readAction(t *testing.T) *action {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// job runs the scripts of the action as the runner does: inputs and outputs of steps become environment variables, and each script runs
// in bash with -e and pipefail. Steps that use other actions are not run.
type job struct {
	t       *testing.T
	dir     string // the checkout
	temp    string // RUNNER_TEMP
	path    string // PATH
	inputs  map[string]string
	env     []string // of the step that uses the action
	outputs map[string]string
	summary string
	log     string
}

func newJob(t *testing.T, inputs map[string]string) *job {
	t.Helper()
	return &job{t: t, dir: t.TempDir(), temp: t.TempDir(), path: os.Getenv("PATH"), inputs: inputs, outputs: map[string]string{}}
}

// run executes the steps up to one that fails and returns its exit code. It does not run those that are left out.
func (j *job) run(leftOut ...string) (code int) {
	a := readAction(j.t)
	for name := range j.inputs {
		if _, found := a.Inputs[name]; !found {
			j.t.Fatalf("no input %s", name)
		}
	}
	for _, s := range a.Runs.Steps {
		if s.Run == "" || slices.Contains(leftOut, s.ID) || code != 0 {
			continue
		}
		code = j.step(a, &s)
	}
	return code
}

var expression = regexp.MustCompile(`^\$\{\{ (?:inputs\.([a-z-]+)|steps\.([a-z]+)\.outputs\.([a-z-]+)) \}\}$`)

func (j *job) value(a *action, text string) string {
	m := expression.FindStringSubmatch(text)
	if m == nil {
		j.t.Fatalf("not an input or an output: %s", text)
	}
	if m[1] == "" {
		return j.outputs[m[2]+"."+m[3]]
	}
	input, found := a.Inputs[m[1]]
	if !found {
		j.t.Fatalf("no input %s", m[1])
	}
	if given, found := j.inputs[m[1]]; found {
		return given
	}
	return input.Default
}

func (j *job) step(a *action, s *actionStep) int {
	files := j.t.TempDir()
	script := filepath.Join(files, "script.sh")
	if err := os.WriteFile(script, []byte(s.Run), 0o600); err != nil {
		j.t.Fatal(err)
	}
	cmd := exec.CommandContext(j.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir = j.dir
	cmd.Env = append([]string{
		"PATH=" + j.path, "HOME=" + j.temp, "RUNNER_TEMP=" + j.temp, "GITHUB_OUTPUT=" + filepath.Join(files, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(files, "summary"),
	}, j.env...)
	for name, text := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+j.value(a, text))
	}
	said, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		j.t.Fatal(err)
	}
	j.log += string(said)
	j.summary += readIfThere(j.t, filepath.Join(files, "summary"))
	for line := range strings.Lines(readIfThere(j.t, filepath.Join(files, "output"))) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		j.outputs[s.ID+"."+name] = value
	}
	return cmd.ProcessState.ExitCode()
}

// output returns an output of the action.
func (j *job) output(name string) string {
	a := readAction(j.t)
	return j.value(a, a.Outputs[name].Value)
}

func readIfThere(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// TestActionScriptsHaveNoExpressions checks that no input becomes part of a script, and that every input has a use.
func TestActionScriptsHaveNoExpressions(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	used := map[string]bool{}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression in a script", s.Name)
		}
		if s.Run != "" && s.Shell != "bash" {
			t.Errorf("%s: shell %q", s.Name, s.Shell)
		}
		texts := append(slices.Collect(maps.Values(s.Env)), s.If)
		for _, text := range append(texts, slices.Collect(maps.Values(s.With))...) {
			for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
				used[m[1]] = true
				if _, found := a.Inputs[m[1]]; !found {
					t.Errorf("%s: no input %s", s.Name, m[1])
				}
			}
		}
	}
	for name, input := range a.Inputs {
		if !used[name] || input.Description == "" {
			t.Errorf("input %s: used %v, description %q", name, used[name], input.Description)
		}
	}
	if a.Runs.Using != "composite" || len(a.Outputs) == 0 {
		t.Errorf("using %q, %d outputs", a.Runs.Using, len(a.Outputs))
	}
}

func TestActionReportsFindings(t *testing.T) {
	t.Parallel()
	candor := shippedCandor(t)
	j := newJob(t, map[string]string{"binary": candor, "command": candor + " zoo --defect masked-flag", "flags": "--timeout=5s\n\n--seed=2\n"})
	if err := os.MkdirAll(filepath.Join(j.dir, ".github", "workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(j.dir, ".github", "workflows", "ci.yml"), "on: push")
	j.env = []string{"GITHUB_WORKFLOW_REF=owner/name/.github/workflows/ci.yml@refs/heads/main"}
	if code := j.run(); code != 1 {
		t.Fatalf("exit code %d: %s", code, j.log)
	}
	if got := j.output("grade") + j.output("exit-code"); got != "D1" {
		t.Errorf("grade and exit code %s", got)
	}
	for name, want := range map[string]string{
		"report": `"seed": 2`, "sarif": `"uri": ".github/workflows/ci.yml"`, "junit": "<testsuites>", "html": "<!doctype html>",
	} {
		if text := readIfThere(t, j.output(name)); !strings.Contains(text, want) {
			t.Errorf("%s at %q has no %s", name, j.output(name), want)
		}
	}
	if !strings.Contains(j.summary, "EC002") {
		t.Errorf("the summary does not name the rule: %s", j.summary)
	}
	stop := regexp.MustCompile(`(?s)^::stop-commands::([0-9a-f]{32})\n.*\n::([0-9a-f]{32})::\n::error title=candor probe::Grade D, with findings at or above major\.`).FindStringSubmatch(j.log)
	if stop == nil || stop[1] != stop[2] {
		t.Errorf("log: %s", j.log)
	}
	if _, err := os.Stat(filepath.Join(j.temp, "candor-probe", "run.json")); err == nil {
		t.Error("the raw run is among the reports")
	}

	// The same findings are not a regression against this report; one more is.
	j.inputs["baseline"] = j.output("report")
	writeFile(t, filepath.Join(j.dir, "baseline.json"), readIfThere(t, j.output("report")))
	j.inputs["baseline"], j.summary = "baseline.json", ""
	if code := j.run(); code != 0 {
		t.Errorf("no regression: exit code %d: %s", code, j.log)
	}
	j.inputs["command"] += " --defect leak-token"
	j.summary = ""
	if code := j.run(); code != 1 {
		t.Errorf("a regression: exit code %d: %s", code, j.log)
	}
	if !strings.Contains(j.summary, "leak-token") || !strings.Contains(j.log, "regressions against the baseline") {
		t.Errorf("log: %s\nsummary: %s", j.log, j.summary)
	}
}

func TestActionPassesArgumentsUnchanged(t *testing.T) {
	t.Parallel()
	candor := shippedCandor(t)
	j := newJob(t, map[string]string{
		"binary": candor, "fail-on": "never", "upload-sarif": "true", "name": "second",
		// Several lines are one argument each. The server fails unless it gets its arguments and variables as they are.
		"command": "bash\n-c\n[ \"$1\" = 'a  b $(touch pwned)' ] && [ \"$TOKEN\" = 'x y; touch pwned' ] && [ \"$KEY\" = from-step ] && exec \"$2\" zoo --defect none\nname\na  b $(touch pwned)\n" + candor,
		"env":     "TOKEN=x y; touch pwned\nKEY\n",
	})
	j.env = []string{"KEY=from-step"}
	if code := j.run(); code != 0 || j.output("grade") != "A" {
		t.Fatalf("exit code %d, grade %q: %s", code, j.output("grade"), j.log)
	}
	if want := filepath.Join(j.temp, "second", "report.json"); j.output("report") != want {
		t.Errorf("report at %s, want %s", j.output("report"), want)
	}
}

func TestActionProbesURL(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{
		"binary": shippedCandor(t), "url": zooAddress(t, "masked-flag"), "header": "Authorization: Bearer secret-of-the-test\nX-Other: 1\n", "fail-on": "never",
	})
	if code := j.run(); code != 0 || j.output("grade") != "D" {
		t.Fatalf("exit code %d, outputs %v: %s", code, j.outputs, j.log)
	}
	if strings.Contains(j.log+j.summary+readIfThere(t, j.output("report")), "secret-of-the-test") {
		t.Error("the header is in the log or the reports")
	}
}

func TestActionRefusesBadInputs(t *testing.T) {
	t.Parallel()
	candor := shippedCandor(t)
	for name, c := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"no server":        {map[string]string{}, "Give the input command or the input url."},
		"two servers":      {map[string]string{"command": "x", "url": "http://127.0.0.1:1"}, "Give either"},
		"name with a path": {map[string]string{"command": "x", "name": "../x"}, "The input name"},
		"hidden name":      {map[string]string{"command": "x", "name": ".."}, "The input name"},
		"unknown rules":    {map[string]string{"command": "x", "rules": "$(touch pwned)"}, `unknown --rules "$(touch pwned)"`},
		"commands":         {map[string]string{"command": "no-such-command; $(touch pwned) `touch pwned`"}, "no-such-command;"},
		"no baseline":      {map[string]string{"command": candor + " zoo", "baseline": "missing.json"}, "missing.json: no such file"},
		"binary":           {map[string]string{"binary": "missing"}, "not an executable file"},
		"version":          {map[string]string{"binary": "", "version": "1.0.0;touch pwned"}, "The input version"},
		"package":          {map[string]string{"binary": "", "version": "file:.."}, "The input version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs := map[string]string{"binary": candor}
			maps.Copy(inputs, c.inputs)
			j := newJob(t, inputs)
			if code := j.run(); code != 2 || !strings.Contains(j.log, c.want) {
				t.Errorf("exit code %d: %s", code, j.log)
			}
			if left, err := os.ReadDir(j.dir); err != nil || len(left) > 0 || j.summary != "" || j.outputs["probe.report"] != "" {
				t.Errorf("left %v, %v, summary %q, outputs %v", left, err, j.summary, j.outputs)
			}
		})
	}
}

// TestActionInstallsFromTheFirstSource replaces npm, curl and go with scripts that write their arguments to a file.
func TestActionInstallsFromTheFirstSource(t *testing.T) {
	t.Parallel()
	const program = "#!/bin/sh\necho candor from %s\n"
	archive := tarball(t, "candor", fmt.Sprintf(program, "release"))
	system := map[string]string{"linux": "linux", "darwin": "darwin"}[runtime.GOOS] + "_" + runtime.GOARCH
	if strings.HasPrefix(system, "_") || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("needs Linux or macOS on amd64 or arm64")
	}
	sums := fmt.Sprintf("%x  candor_1.2.3_%s.tar.gz\n%064d  candor_1.2.3_plan9_amd64.tar.gz\n", sha256.Sum256(archive), system, 0)
	npm := "mkdir -p \"$4/bin\" && printf '" + strings.ReplaceAll(fmt.Sprintf(program, "npm"), "\n", `\n`) + "' > \"$4/bin/candor\" && chmod +x \"$4/bin/candor\""
	source := "mkdir -p \"$GOBIN\" && printf '" + strings.ReplaceAll(fmt.Sprintf(program, "source"), "\n", `\n`) + "' > \"$GOBIN/candor\" && chmod +x \"$GOBIN/candor\""
	curl := `while [ "$1" != --output ]; do shift; done; cp "$SERVED/$(basename "$2")" "$2"`
	for _, c := range []struct {
		name, version string
		stubs         map[string]string
		sums          string
		code          int
		want, called  string
	}{
		{"npm", "v1.2.3", map[string]string{"npm": npm, "curl": "exit 9", "go": "exit 9"}, sums, 0, "candor from npm", "candor-mcp@1.2.3"},
		{"npm fails", "1.2.3", map[string]string{"npm": "exit 1", "curl": curl, "go": "exit 9"}, sums, 0, "candor from release", "/releases/download/v1.2.3/checksums.txt"},
		{"latest", "latest", map[string]string{"curl": curl}, sums, 0, "candor from release", "/releases/latest/download/candor_1.2.3_" + system + ".tar.gz"},
		{"no release", "v1.2.3", map[string]string{"curl": "exit 22", "go": source}, sums, 0, "candor from source", "github.com/candor-mcp/candor/cmd/candor@v1.2.3"},
		{"wrong checksum", "1.2.3", map[string]string{"curl": curl, "go": source}, fmt.Sprintf("%064d  candor_1.2.3_%s.tar.gz\n", 0, system), 2, "The checksum of candor_1.2.3_" + system + ".tar.gz is wrong.", "curl"},
		{"no source", "latest", nil, sums, 2, "candor latest could not be installed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, map[string]string{"version": c.version})
			served := t.TempDir()
			writeFile(t, filepath.Join(served, "checksums.txt"), c.sums)
			writeFile(t, filepath.Join(served, "candor_1.2.3_"+system+".tar.gz"), string(archive))
			calls := filepath.Join(served, "calls")
			j.env = []string{"SERVED=" + served, "CALLS=" + calls}
			j.path = toolFolder(t)
			for name, body := range c.stubs {
				writeFile(t, filepath.Join(j.path, name), "#!/bin/sh\necho "+name+" \"$@\" >> \"$CALLS\"\n"+body+"\n")
				if err := os.Chmod(filepath.Join(j.path, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if code := j.run("probe"); code != c.code || !strings.Contains(j.log, c.want) {
				t.Errorf("exit code %d: %s", code, j.log)
			}
			if called := readIfThere(t, calls); !strings.Contains(called, c.called) {
				t.Errorf("called %s", called)
			}
			if _, err := os.Stat(j.outputs["install.candor"]); (err == nil) != (c.code == 0) {
				t.Errorf("output %q: %v", j.outputs["install.candor"], err)
			}
		})
	}
}

// toolFolder returns a folder with the programs that the scripts use, and none that reaches the network.
func toolFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"basename", "bash", "cat", "chmod", "cp", "dirname", "grep", "gzip", "mkdir", "rm", "sh", "sha256sum", "shasum", "tar", "uname"} {
		if from, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(from, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func tarball(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

//go:build unix

package deployment

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// execStart returns the words of the command of a unit.
func execStart(t *testing.T, name string) []string {
	t.Helper()
	for line := range strings.Lines(read(t, name)) {
		if command, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); found {
			var words []string
			for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
				words = append(words, m[1]+m[2])
			}
			return words
		}
	}
	t.Fatalf("%s has no command", name)
	return nil
}

// TestCommandLinesAreAccepted runs every command line of the examples with --help, which fails if a command or a flag does not exist.
func TestCommandLinesAreAccepted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds candor-cluster")
	}
	path := program(t)
	lines := [][]string{execStart(t, "systemd/candor-gateway.service")[1:], execStart(t, "systemd/candor-shipper.service")[1:]}
	c := readCompose(t)
	lines = append(lines, c.Services["setup"].Command, c.Services["gateway"].Command, c.Services["gateway"].Healthcheck.Test[2:])
	for _, o := range manifests(t) {
		for _, container := range containers(o) {
			if strings.HasPrefix(text(container["image"]), "candor-cluster") {
				lines = append(lines, texts(container["args"]))
			}
			for _, probe := range []string{"startupProbe", "livenessProbe"} {
				if command := texts(at(container, probe, "exec", "command")); len(command) > 0 {
					lines = append(lines, command[1:])
				}
			}
		}
	}
	if len(lines) < 10 {
		t.Fatalf("only %d command lines were found", len(lines))
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(t.Context(), path, append(slices.Clone(line), "--help")...).CombinedOutput(); err != nil || !strings.Contains(string(out), "Usage:") {
			t.Errorf("%s: %v\n%s", strings.Join(line, " "), err, out)
		}
	}
}

// TestUnitsAreAccepted lets systemd read the units, with an executable that exists.
func TestUnitsAreAccepted(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"candor-gateway.service", "candor-shipper.service"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(read(t, "systemd/"+name), "/usr/bin/candor-cluster", self)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// object is a part of a manifest.
type object = map[string]any

// manifests returns all objects in the files that kustomization.yaml names.
func manifests(t *testing.T) (all []object) {
	t.Helper()
	var list struct {
		APIVersion         string `yaml:"apiVersion"`
		Kind, Namespace    string
		Resources          []string
		ConfigMapGenerator []struct {
			Name        string
			Files, Envs []string
		} `yaml:"configMapGenerator"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(read(t, "kubernetes/kustomization.yaml")), &list, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, name := range list.Resources {
		decoder := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes/"+name)), yaml.Strict())
		for {
			var o object
			err := decoder.Decode(&o)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, o)
		}
	}
	for _, generated := range list.ConfigMapGenerator {
		for _, file := range append(generated.Files, generated.Envs...) {
			read(t, "kubernetes/"+file)
		}
		all = append(all, object{"kind": "ConfigMap", "metadata": object{"name": generated.Name}})
	}
	return all
}

// at returns the value at a path, or nil.
func at(v any, path ...string) any {
	for _, key := range path {
		o, _ := v.(object)
		v = o[key]
	}
	return v
}

func text(v any) string { s, _ := v.(string); return s }

func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, each := range list {
		all = append(all, text(each))
	}
	return all
}

func objects(v any) (all []object) {
	list, _ := v.([]any)
	for _, each := range list {
		if o, ok := each.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

func containers(o object) []object { return objects(at(o, "spec", "template", "spec", "containers")) }

// TestKubernetesHasTheConfigurationOfNATS checks that the copies of the configuration differ only in the names of the servers: kustomize
// reads no files outside its folder.
func TestKubernetesHasTheConfigurationOfNATS(t *testing.T) {
	t.Parallel()
	names := strings.NewReplacer("nats-0.nats:6222", "nats-1:6222", "nats-1.nats:6222", "nats-2:6222", "nats-2.nats:6222", "nats-3:6222")
	for copied, original := range map[string]string{"kubernetes/nats.conf": "nats/nats.conf", "kubernetes/accounts.conf": "nats/accounts.conf", "kubernetes/keys.env": "compose/keys.env"} {
		if names.Replace(read(t, copied)) != read(t, original) {
			t.Errorf("%s differs from %s", copied, original)
		}
	}
}

// TestKustomizeRenders renders the manifests with kubectl.
func TestKustomizeRenders(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	out, err := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join(folder, "kubernetes")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "kind: StatefulSet") {
		t.Errorf("%v\n%.2000s", err, out)
	}
}

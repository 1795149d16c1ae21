//go:build unix

package deployment

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageCommands returns the command lines of candor and candor-cluster in the blocks of docs/fleet.md, and those of the block that
// begins with the note that a test runs it.
func pageCommands(t *testing.T) (all, first [][]string) {
	t.Helper()
	page := read(t, "../docs/fleet.md")
	words := regexp.MustCompile(`'([^']*)'|(\S+)`)
	for i, block := range strings.Split(page, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, " #")
			var command []string
			for _, m := range words.FindAllStringSubmatch(line, -1) {
				command = append(command, m[1]+m[2])
			}
			all = append(all, command)
			if i == 0 {
				first = append(first, command)
			}
		}
	}
	return all, first
}

// TestFleetPageCommands runs the first commands of docs/fleet.md as they are written, with a server that does not exist, and checks
// that all others are accepted.
func TestFleetPageCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds candor-cluster")
	}
	path, dir := program(t), t.TempDir()
	all, first := pageCommands(t)
	if len(all) < 7 || len(first) != 3 {
		t.Fatalf("%d commands, %d of them in the first block", len(all), len(first))
	}
	for _, command := range all {
		if command[0] != "candor-cluster" {
			t.Errorf("%v: not a command of candor-cluster", command)
			continue
		}
		words, _, _ := strings.Cut(strings.Join(command[1:], "\n"), "\n--\n")
		if out, err := exec.CommandContext(t.Context(), path, append(strings.Split(words, "\n"), "--help")...).CombinedOutput(); err != nil || !strings.Contains(string(out), "Usage:") {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
	outputs := map[string]string{}
	for _, command := range first {
		cmd := exec.CommandContext(t.Context(), path, command[1:]...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		if err != nil && command[1] != "wrap" { // YOUR-SERVER does not exist, which is recorded
			t.Errorf("%v: %v\n%s", command, err, out)
		}
		outputs[strings.Join(command[1:3], " ")] = string(out)
	}
	if !strings.Contains(outputs["fleet verify"], "node web-1:") || !strings.Contains(outputs["fleet verify"], "OK:") {
		t.Errorf("outputs: %v", outputs)
	}
}

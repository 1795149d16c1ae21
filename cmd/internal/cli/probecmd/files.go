package probecmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/near"
)

// files looks at the files that the flags name, before minutes are spent on a run that nobody could keep. It returns the baseline, if
// there is one.
func (c *probeCommand) files() (before *probe.Report, err error) {
	for _, to := range [][2]string{{"--out", c.out}, {"--record", c.record}, {"--profile-out", c.profile}} {
		if err := writable(to[0], to[1]); err != nil {
			return nil, err
		}
	}
	if _, err := os.Lstat(c.profile); c.profile != "" && err == nil {
		return nil, term.BadInput("choose another file, or remove that one", "--profile-out: %s is there already, and a person may have changed it", c.profile)
	}
	if info, err := os.Stat(c.dir); c.dir != "" && (err != nil || !info.IsDir()) {
		return nil, term.BadInput("make it, or leave --dir out for a fresh one", "--dir %s is no folder", c.dir)
	}
	if c.baseline == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	before, err = ReadReport(c.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, term.BadInput("write one with --format json --out "+c.baseline, "the baseline %s is not there", c.baseline)
	}
	if err != nil {
		return nil, term.BadInput("give a report that --format json has written", "--baseline: %s", err)
	}
	return before, nil
}

// writable refuses a file that cannot be made.
func writable(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return term.BadInput("choose a file with "+flag, "%s %s is a folder", flag, name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return term.BadInput("make the folder, or choose another file with "+flag, "%s: there is no folder %s", flag, filepath.Dir(name))
	}
	return nil
}

func ReadReport(name string) (*probe.Report, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return report.Read(data)
}

// notThere are the names of --allow that no tool has: what was meant to be called was not.
func (c *probeCommand) notThere(tools []probe.Tool) (out []probe.Skip) {
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	for _, name := range c.allow {
		if term.ContainsFold(names, name) {
			continue
		}
		reason := "the server lists no such tool"
		if meant := near.Typed(name, names); len(meant) > 0 {
			reason += "; did you mean " + meant[0] + "?"
		}
		out = append(out, probe.Skip{What: "--allow " + name, Reason: reason})
	}
	return out
}

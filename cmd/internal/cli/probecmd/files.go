package probecmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/similar"
)

// files checks the files of the flags before a run that may take minutes. It returns the baseline, or nil without --baseline.
func (c *probeCommand) files() (before *probe.Report, err error) {
	for _, to := range [][2]string{{"--out", c.out}, {"--record", c.record}, {"--profile-out", c.profile}} {
		if err := writable(to[0], to[1]); err != nil {
			return nil, err
		}
	}
	if _, err := os.Lstat(c.profile); c.profile != "" && err == nil {
		return nil, term.BadInput("choose another file, or remove this one", "--profile-out %s: already exists", c.profile)
	}
	if info, err := os.Stat(c.dir); c.dir != "" && (err != nil || !info.IsDir()) {
		return nil, term.BadInput("create it, or leave --dir out for a temporary folder", "--dir %s: not a folder", c.dir)
	}
	if c.baseline == "" {
		return nil, nil //nolint:nilnil // a baseline is optional
	}
	before, err = readReport(c.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, term.BadInput("write one with --format json --out "+c.baseline, "--baseline %s: no such file", c.baseline)
	}
	if err != nil {
		return nil, term.BadInput("give a report of --format json", "--baseline: %s", err)
	}
	return before, nil
}

// writable returns an error for a file that cannot be created.
func writable(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return term.BadInput("choose a file with "+flag, "%s %s: is a folder", flag, name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return term.BadInput("create the folder, or choose another file with "+flag, "%s: no such folder: %s", flag, filepath.Dir(name))
	}
	return nil
}

// readReport reads a report of --format json.
func readReport(name string) (*probe.Report, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return report.Read(data)
}

// notThere returns the names of --allow that no tool has, as skipped cases.
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
		if meant := similar.Typed(name, names); len(meant) > 0 {
			reason += "; did you mean " + meant[0] + "?"
		}
		out = append(out, probe.Skip{What: "--allow " + name, Reason: reason})
	}
	return out
}

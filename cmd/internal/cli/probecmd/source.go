package probecmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

// checkSource validates --sarif-location before the run.
func (c *probeCommand) checkSource() error {
	if c.source == "" {
		return nil
	}
	if c.format != report.FormatSARIF {
		return term.BadInput("add --format sarif, or leave --sarif-location out", "--sarif-location: not used by --format %s", c.format)
	}
	if !isFile(c.source) {
		return term.BadInput("give a file of the repository", "--sarif-location %s: not a file", c.source)
	}
	if root := repository(); inside(root, c.source) == "" {
		return term.BadInput("give a file of the repository", "--sarif-location %s: not below %s", c.source, root)
	}
	return nil
}

// options returns the options of the report. A report as SARIF refers to the file of --sarif-location.
func (c *probeCommand) options(judged *probe.Report) report.Options {
	switch {
	case c.format != report.FormatSARIF:
		return report.Options{}
	case c.source == "":
		c.env.Notify(c.cmd, "code scanning refuses results without a file", "use --sarif-location FILE")
		return report.Options{}
	}
	return report.Options{Source: report.Source{Path: inside(repository(), c.source), Lines: toolLines(c.source, judged.Tools)}}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// repository returns the nearest folder above with a .git, or the current folder.
func repository() string {
	here := term.AbsolutePath(".")
	for dir := here; ; {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return here
		}
		dir = above
	}
}

// inside returns the path of a file relative to the root, with slashes, or "" for a file outside of it. Links to folders are followed.
func inside(root, file string) string {
	file = term.AbsolutePath(file)
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return ""
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return ""
	}
	path, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(file)))
	if err != nil || !filepath.IsLocal(path) {
		return ""
	}
	return filepath.ToSlash(path)
}

// maxSource is the size up to which a file is searched for the names of tools.
const maxSource = 4 << 20

// toolLines returns the first line that has the name of each tool in quotes, which is most likely where the tool is registered.
func toolLines(file string, tools []probe.ToolReport) map[string]int {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil
	}
	lines := map[string]int{}
	for _, tool := range tools {
		first := -1
		for _, quote := range []string{`"`, "'", "`"} {
			if at := bytes.Index(text, []byte(quote+tool.Tool+quote)); at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}
		if first >= 0 {
			lines[tool.Tool] = 1 + bytes.Count(text[:first], []byte("\n"))
		}
	}
	return lines
}

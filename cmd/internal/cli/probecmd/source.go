package probecmd

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
)

// configurations are files that name a server, in the order in which they are tried.
var configurations = []string{
	".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", "candor.yaml", "server.json", "package.json", "pyproject.toml", "go.mod", "Cargo.toml",
}

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

// options returns the options of the report. A report as SARIF refers to the file of --sarif-location, else to the file of the server's
// command, to a configuration file, or to the workflow that runs.
func (c *probeCommand) options(judged *probe.Report) report.Options {
	if c.format != report.FormatSARIF {
		return report.Options{}
	}
	root := repository()
	file := c.source
	if file == "" {
		file = sourceFile(root, judged)
	}
	if file == "" {
		c.env.Notify(c.cmd, "no file of this folder belongs to the server, and code scanning refuses results without a file", "use --sarif-location FILE")
		return report.Options{}
	}
	return report.Options{Source: report.Source{Path: inside(root, file), Lines: toolLines(file, judged.Tools)}}
}

func sourceFile(root string, judged *probe.Report) string {
	return cmp.Or(commandFile(root, judged), configFile(root), workflowFile(root))
}

// commandFile returns the first text file of the repository in the command of the server, such as dist/index.js in node dist/index.js. A
// compiled server is not one: it is not in the repository, or has no lines. The report of a recorded run has the command as well.
func commandFile(root string, judged *probe.Report) string {
	for word := range strings.FieldsSeq(judged.Server.Target) {
		if isFile(word) && inside(root, word) != "" && isText(word) {
			return word
		}
	}
	return ""
}

// isText reports whether the start of a file has no zero byte, as Git does.
func isText(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it is only read
	start, err := io.ReadAll(io.LimitReader(f, 8000))
	return err == nil && !bytes.Contains(start, []byte{0})
}

func configFile(root string) string {
	for _, name := range configurations {
		if file := filepath.Join(root, filepath.FromSlash(name)); isFile(file) {
			return file
		}
	}
	return ""
}

// workflowFile returns the file of the GitHub workflow that runs, from a variable such as owner/name/.github/workflows/ci.yml@refs/heads/main.
func workflowFile(root string) string {
	name, _, _ := strings.Cut(os.Getenv("GITHUB_WORKFLOW_REF"), "@")
	if i := strings.Index(name, "/.github/"); i >= 0 {
		if file := filepath.Join(root, filepath.FromSlash(name[i:])); inside(root, file) != "" && isFile(file) {
			return file
		}
	}
	if file := filepath.Join(root, ".gitlab-ci.yml"); isFile(file) {
		return file
	}
	return ""
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

// Package readme produces the parts of README.md that can become stale: transcripts, and the text of a failing call as a model reads
// it. The command below it rewrites them, and its test fails if the page differs from the program.
//
// A part is marked in the page:
//
//	<!-- output: CMD -->            the fenced block below is the output of a shell command
//	<!-- call: WHERE TOOL ARGS -->  the fenced block below is the text of a call of the demo's server; WHERE is alone or through
package readme

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/internal/tools/shape"
)

// Repository has the files that this package reads and writes, and the program that it runs.
type Repository struct {
	Dir    string // the root of the repository
	Candor string // path of the candor binary, whose name must be candor
}

// PagePath is the path of the page below the root of the repository.
const PagePath = "README.md"

func (r Repository) path(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }

var mark = regexp.MustCompile(`^<!-- (output|call): (.+?) -->$`)

// Render returns the page with the present content of every marked part. A transcript that still fits the program is kept, because a
// line "…" in it stands for lines that are left out.
func (r Repository) Render(ctx context.Context, page string) (string, error) {
	lines := strings.Split(page, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		m := mark.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end, err := fenceEnd(lines, i+1)
		if err != nil {
			return "", err
		}
		body, err := r.body(ctx, m[1], m[2], strings.Join(lines[i+2:end], "\n")+"\n")
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(append(out, lines[i+1]), strings.Split(strings.TrimRight(body, "\n"), "\n")...)
		i = end - 1 // the closing fence is copied by the loop
	}
	return strings.Join(out, "\n"), nil
}

// fenceEnd returns the index of the line that closes the fenced block whose first line is lines[at].
func fenceEnd(lines []string, at int) (int, error) {
	if at >= len(lines) || !strings.HasPrefix(lines[at], "```") {
		return 0, fmt.Errorf("line %d: a mark without a fenced block below it", at)
	}
	for end := at + 1; end < len(lines); end++ {
		if lines[end] == "```" {
			return end, nil
		}
	}
	return 0, fmt.Errorf("line %d: the fenced block does not end", at+1)
}

// body returns the content of a marked block; old is the content in the page.
func (r Repository) body(ctx context.Context, kind, argument, old string) (string, error) {
	if kind == "output" {
		return r.output(ctx, argument, old)
	}
	where, call, _ := strings.Cut(argument, " ")
	tool, arguments, _ := strings.Cut(call, " ")
	command := []string{r.Candor, "demo-server"}
	switch where {
	case "alone":
	case "through":
		command = append([]string{r.Candor, "wrap", "--ledger", "none", "--quiet", "--"}, command...)
	default:
		return "", fmt.Errorf("call: unknown place %q, want alone or through", where)
	}
	return callText(ctx, command, tool, arguments)
}

// output runs a shell command and returns its transcript.
func (r Repository) output(ctx context.Context, command, old string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(r.Candor)+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	got, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) { // a command may be meant to fail
		return "", fmt.Errorf("running %s: %w", command, err)
	}
	if shape.CompareOutput(shape.Block{Output: command, Text: old}, string(got)) == "" {
		return old, nil
	}
	return "$ " + command + "\n" + string(got), nil
}

// Rewrite renders the page and writes it if it has changed.
func (r Repository) Rewrite(ctx context.Context) error {
	old, err := os.ReadFile(r.path(PagePath))
	if err != nil {
		return err
	}
	page, err := r.Render(ctx, string(old))
	if err != nil {
		return fmt.Errorf("%s: %w", PagePath, err)
	}
	if page == string(old) {
		return nil
	}
	return os.WriteFile(r.path(PagePath), []byte(page), 0o644) //nolint:gosec // a file of the repository, readable like the others
}

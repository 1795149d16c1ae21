// Run prints how often the comments of this repository use habits that the standard library avoids, beside net/http and log/slog.
//
//	go run ./internal/prose/run               the whole tree
//	go run ./internal/prose/run --by-package  each package, the most frequent first
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/prose"
)

func main() {
	byPackage := flag.Bool("by-package", false, "a row for each package, the most hits per word first")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *byPackage); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, byPackage bool) error {
	ours, err := prose.Tree(os.DirFS("."))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-32s %8s", "per 1,000 words of comments", "words")
	for _, m := range prose.Measures() {
		fmt.Fprintf(out, " %16s", m.Name)
	}
	fmt.Fprintln(out)
	row(out, "this repository", prose.Sum(ours))
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	for _, name := range []string{"net/http", "log/slog", "net/http/httputil"} {
		theirs, err := prose.Tree(os.DirFS(filepath.Join(strings.TrimSpace(string(goroot)), "src", filepath.FromSlash(name))))
		if err != nil {
			return err
		}
		row(out, name, *theirs["."])
	}
	if byPackage {
		fmt.Fprintln(out)
		packages(out, ours)
	}
	return nil
}

func packages(out io.Writer, counts map[string]*prose.Count) {
	names := prose.Folders(counts)
	slices.SortStableFunc(names, func(a, b string) int { return int(1000 * (all(counts[b]) - all(counts[a]))) })
	for _, name := range names {
		row(out, name, *counts[name])
	}
}

// all returns the hits of all measures per 1,000 words.
func all(c *prose.Count) (rate float64) {
	for i := range c.Hits {
		rate += c.Rate(i)
	}
	return rate
}

func row(out io.Writer, name string, c prose.Count) {
	fmt.Fprintf(out, "%-32s %8d", name, c.Words)
	for i := range c.Hits {
		fmt.Fprintf(out, " %16.2f", c.Rate(i))
	}
	fmt.Fprintln(out)
}

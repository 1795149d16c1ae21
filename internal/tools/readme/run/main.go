// Run rewrites the parts of README.md that are produced by the program.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
	"github.com/candor-mcp/candor/internal/tools/readme"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "candor-readme-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	repo := readme.Repository{Dir: ".", Candor: filepath.Join(dir, "candor")}
	if err := testbinary.Build(ctx, repo.Candor, false); err != nil {
		return err
	}
	return repo.Rewrite(ctx)
}

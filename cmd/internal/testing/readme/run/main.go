// Run rewrites the parts of README.md that are produced by the program: transcripts, figures and pictures.
//
//	go run ./cmd/internal/testing/readme/run            measure the figures and rewrite everything
//	go run ./cmd/internal/testing/readme/run -calls 0   keep the figures of the last measurement
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/testing/readme"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

func main() {
	calls := flag.Int("calls", 5000, "calls to measure, or 0 to keep the figures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *calls); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, calls int) error {
	dir, err := os.MkdirTemp("", "candor-readme-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	repo := readme.Repository{Dir: ".", Candor: filepath.Join(dir, "candor")}
	if err := testbinary.Build(ctx, repo.Candor, false); err != nil {
		return err
	}
	if calls > 0 {
		if err := repo.Measure(ctx, calls); err != nil {
			return err
		}
	}
	if err := pictures(ctx, repo); err != nil {
		return err
	}
	return repo.Rewrite(ctx)
}

// pictures takes the pictures whose pages have changed.
func pictures(ctx context.Context, repo readme.Repository) error {
	report, err := repo.Report(ctx)
	if err != nil {
		return err
	}
	if current, err := repo.PictureIsCurrent(readme.ReportPicture, report); err != nil || !current {
		if err := repo.PictureReport(ctx, report); err != nil {
			return err
		}
	}
	console, err := repo.OpenConsole(ctx)
	if err != nil {
		return err
	}
	defer console.Close()
	if current, err := repo.PictureIsCurrent(readme.ConsolePicture, console.Page); err != nil || !current {
		return repo.TakePicture(ctx, readme.ConsolePicture, console.Address, console.Page)
	}
	return nil
}

// Run judges the go-sdk's own server by the official conformance suite, bare, with the boundary and through the gateway, and
// fails if the suite sees a difference or if its totals are not the ones written down.
//
//	go run ./internal/tools/conformance/run            the released suite
//	go run ./internal/tools/conformance/run -alpha     the alphas too, for both protocol eras
//	go run ./internal/tools/conformance/run -install   only fetch what the suite and the client tests need
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor/internal/tools/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // a run takes seconds, unless a tool or registry hangs
	defer cancel()
	alpha := flag.Bool("alpha", false, "run the alphas of the suite too")
	install := flag.Bool("install", false, "fetch what is needed, and stop")
	flag.Parse()
	if err := run(ctx, *alpha, *install); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1) //nolint:gocritic // the process ends, and nothing is pending
	}
}

func run(ctx context.Context, alpha, install bool) error {
	box, err := conformance.OpenToolbox()
	if err != nil {
		return err
	}
	if install {
		return box.Install(ctx, func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) })
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays in the temporary folder is harmless
	return judge(ctx, box, alpha, dir, os.Stdout)
}

// judge runs every configuration of the suite.
func judge(ctx context.Context, box conformance.Toolbox, alpha bool, dir string, out io.Writer) error {
	subjects, err := conformance.BuildSubjects(ctx, dir)
	if err != nil {
		return err
	}
	var wrong []error
	for _, r := range conformance.Runs {
		if r.Alpha && !alpha {
			continue
		}
		wrong = append(wrong, compare(ctx, box, r, subjects, dir, out))
	}
	return errors.Join(wrong...)
}

// compare runs one configuration of the suite against every subject and compares the results with those of the first.
func compare(ctx context.Context, box conformance.Toolbox, r conformance.Run, subjects []conformance.Subject, dir string, out io.Writer) error {
	name := strings.Join(append([]string{r.Package.Version}, r.Args...), " ")
	var direct conformance.Outcome
	for i, subject := range subjects {
		outcome, err := r.Judge(ctx, box, subject, dir)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", name, subject.Name, err)
		}
		fmt.Fprintf(out, "%s, %s: %v (%d scenarios)\n", name, subject.Name, outcome.Total, len(outcome.Scenarios))
		if i == 0 {
			direct = outcome
		}
		if diff := conformance.Compare(direct, outcome); diff != "" {
			return fmt.Errorf("%s, %s: it makes a difference:\n%s", name, subject.Name, diff)
		}
		if outcome.Total != r.Want {
			return fmt.Errorf("%s, %s: expected %v", name, subject.Name, r.Want)
		}
	}
	return nil
}

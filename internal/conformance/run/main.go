// Run judges the go-sdk's own server by the official conformance suite, bare, with the boundary and through the gateway, and
// fails if the suite sees a difference or if its totals are not the ones written down.
//
//	go run ./internal/conformance/run            the released suite
//	go run ./internal/conformance/run -alpha     the alphas too, for both protocol eras
//	go run ./internal/conformance/run -install   only fetch what the suite and the client tests need
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

	"github.com/candor-mcp/candor/internal/conformance"
)

// limit is for a suite that hangs; a run takes seconds.
const limit = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	alpha := flags.Bool("alpha", false, "run the alphas of the suite too")
	install := flags.Bool("install", false, "fetch what is needed, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	box, err := conformance.OpenToolbox()
	if err != nil {
		return err
	}
	if *install {
		return box.Install(ctx, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	subjects, err := conformance.BuildSubjects(ctx, dir)
	if err != nil {
		return err
	}
	var wrong []error
	for _, r := range conformance.Runs {
		if r.Alpha && !*alpha {
			continue
		}
		wrong = append(wrong, compare(ctx, box, r, subjects, dir, out))
	}
	return errors.Join(wrong...)
}

// compare runs one form of the suite against every subject; the first is the measure.
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

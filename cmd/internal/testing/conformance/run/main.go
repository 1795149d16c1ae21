// Run judges the go-sdk's own server by the official conformance suite, bare, with the boundary and through the gateway, and
// fails if the suite sees a difference or if its totals are not the ones written down.
//
//	go run ./cmd/internal/testing/conformance/run            the released suite
//	go run ./cmd/internal/testing/conformance/run -alpha     the alphas too, for both protocol eras
//	go run ./cmd/internal/testing/conformance/run -install   only fetch what the suite and the client tests need
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

func main() {
	alpha := false
	os.Exit(conformance.Program{
		Name:  "conformance",
		Limit: 5 * time.Minute, // a run takes seconds
		Flags: func(f *flag.FlagSet) { f.BoolVar(&alpha, "alpha", false, "run the alphas of the suite too") },
		Fetch: func(ctx context.Context, box conformance.Toolbox, say func(string, ...any)) error {
			return box.Install(ctx, say)
		},
		Work: func(ctx context.Context, box conformance.Toolbox, dir string, out io.Writer) error {
			return judge(ctx, box, alpha, dir, out)
		},
	}.Main())
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

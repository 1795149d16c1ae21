// Run judges the go-sdk's own server by the official conformance suite, bare and with the boundary, and fails if the suite sees
// a difference or if its totals are not the ones written down.
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
	servers, err := conformance.BuildServers(ctx, dir)
	if err != nil {
		return err
	}
	var wrong []error
	for _, r := range conformance.Runs {
		if r.Alpha && !*alpha {
			continue
		}
		wrong = append(wrong, compare(ctx, box, r, servers, dir, out))
	}
	return errors.Join(wrong...)
}

// compare runs one form of the suite against both servers.
func compare(ctx context.Context, box conformance.Toolbox, r conformance.Run, servers conformance.Servers, dir string, out io.Writer) error {
	name := strings.Join(append([]string{r.Package.Version}, r.Args...), " ")
	direct, err := r.Judge(ctx, box, servers.Direct, dir)
	if err != nil {
		return fmt.Errorf("%s, direct: %w", name, err)
	}
	bounded, err := r.Judge(ctx, box, servers.Bounded, dir)
	if err != nil {
		return fmt.Errorf("%s, with the boundary: %w", name, err)
	}
	fmt.Fprintf(out, "%s: direct %v; with the boundary %v (%d scenarios)\n", name, direct.Total, bounded.Total, len(bounded.Scenarios))
	if diff := conformance.Compare(direct, bounded); diff != "" {
		return fmt.Errorf("%s: the boundary makes a difference:\n%s", name, diff)
	}
	if bounded.Total != r.Want {
		return fmt.Errorf("%s: expected %v", name, r.Want)
	}
	return nil
}

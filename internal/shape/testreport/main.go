// Testreport reads `go test -json` from standard input, prints packages and failing tests, and fails if a test failed or was
// skipped and no line of the file named by its argument allows that.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: go test -json work | testreport FILE-OF-ALLOWED-SKIPS")
	}
	list, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	allowed, err := ReadAllowances(bytes.NewReader(list))
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[0], err)
	}
	rep, err := Read(in, out)
	if err != nil {
		return err
	}
	fine, wrong := rep.SortSkips(allowed)
	for _, s := range fine {
		fmt.Fprintln(out, "skipped:", s)
	}
	for _, s := range wrong {
		fmt.Fprintln(out, "SKIPPED WITHOUT A REASON:", s)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", rep.Passed, rep.Failed, len(rep.Skips))
	switch {
	case rep.Failed > 0:
		return fmt.Errorf("%d tests failed", rep.Failed)
	case len(wrong) > 0:
		return fmt.Errorf("%d tests were skipped without a reason in %s", len(wrong), args[0])
	case rep.Passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

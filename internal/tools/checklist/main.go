// Checklist reads the output of go test -json from standard input. It prints packages and failing tests, refuses skips without a reason,
// and judges promises by the tests that carry their names: the statements about the workbench's systems, and the codes that programs emit.
//
//	go test -json work | go run ./internal/tools/checklist -skips .ci/skips.txt -statements -codes
//	go run ./internal/tools/checklist -promises docs/promises.md    writes the page of all promises and their tests
//
// The exit code is 0 if every test passed and every promise has a passing test, and 1 otherwise.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/candor-mcp/candor"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "checklist:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	skips, promises          string
	statements, codes, brief bool
}

func run(args []string, in io.Reader, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("checklist", flag.ContinueOnError)
	flags.StringVar(&o.skips, "skips", "", "refuse skips that no line of this file allows")
	flags.BoolVar(&o.statements, "statements", false, "judge the statements about the workbench's systems")
	flags.BoolVar(&o.codes, "codes", false, "judge the codes")
	flags.BoolVar(&o.brief, "brief", false, "print only promises without a passing test")
	flags.StringVar(&o.promises, "promises", "", "write the page of all promises to this file, and read no results")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.promises != "" {
		return writePromises(".", o.promises)
	}
	return o.report(in, out)
}

// report judges one run of tests.
func (o options) report(in io.Reader, out io.Writer) error {
	results, err := readResults(in, out)
	if err != nil {
		return err
	}
	problems := []error{results.check(o.skips, out)}
	rows, err := o.rows(results)
	problems = append(problems, err)
	printRows(out, rows, o.brief)
	bad := 0
	for _, r := range rows {
		if r.bad() {
			bad++
		}
	}
	if bad > 0 {
		problems = append(problems, fmt.Errorf("%d promises without a passing test", bad))
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", results.passed, results.failed, len(results.skips))
	return errors.Join(problems...)
}

// rows returns the promises that the flags select, with their verdicts.
func (o options) rows(results *results) ([]row, error) {
	systems, err := readSystems()
	if err != nil {
		return nil, err
	}
	rows := []row{}
	var unknown, broken error
	if o.statements {
		rows, unknown = statementRows(systems, results)
	}
	if o.codes {
		var of []row
		of, broken = codeRows(systems, candor.Codes(), results)
		rows = append(rows, of...)
	}
	return rows, errors.Join(unknown, broken)
}

// Run prints the tests of each promise, and fails if a promise has no test or a test of it does not pass.
//
//	go run ./internal/checklist/run                    the statements of the workbench's systems: runs their tests
//	go run ./internal/checklist/run --letters K        only those of one system
//	go run ./internal/checklist/run --list             lists the tests and runs none
//	go run ./internal/checklist/run --codes            the codes: runs the tests that make programs emit them
//	go run ./internal/checklist/run --codes --domain kaiza
//	go run ./internal/checklist/run --promises FILE    writes the page of all promises and their tests
//	go run ./internal/checklist/run --results FILE     reads the output of go test -json work instead of running tests
//
// With --json the table is JSON, with --brief it holds only promises without a passing test. The table is written to standard output,
// progress and the output of failing tests to standard error. The exit code is 0 if every promise has a passing test, 1 if not,
// 2 if that cannot be determined.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/checklist"
)

const (
	exitOK    = 0
	exitWrong = 1
	exitBad   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	root, letters, domain, results string
	promises                       string
	codes, list, json, brief       bool
}

func run(ctx context.Context, args []string, out, say io.Writer) int {
	o, err := parse(args, say)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil && o.promises != "" {
		if err = o.writePromises(); err == nil {
			return exitOK
		}
	}
	var report checklist.Report
	if err == nil {
		report, err = o.report(ctx, say)
	}
	if err == nil && o.json {
		err = report.JSON(out)
	}
	if err != nil {
		fmt.Fprintln(say, "checklist:", err)
		return exitBad
	}
	if !o.json {
		report.Print(out, o.brief)
	}
	if !report.OK {
		return exitWrong
	}
	return exitOK
}

func parse(args []string, say io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("checklist", flag.ContinueOnError)
	flags.SetOutput(say)
	flags.StringVar(&o.root, "module", ".", "the folder of the module")
	flags.BoolVar(&o.codes, "codes", false, "the codes instead of the statements")
	flags.StringVar(&o.letters, "letters", "", "only the statements with these letters, like KW")
	flags.StringVar(&o.domain, "domain", "", "only the codes of this domain")
	flags.BoolVar(&o.list, "list", false, "run nothing")
	flags.StringVar(&o.results, "results", "", "run nothing, and read the results of go test -json from this file")
	flags.StringVar(&o.promises, "promises", "", "write the page of all promises and their tests to this file, and run nothing")
	flags.BoolVar(&o.json, "json", false, "for programs")
	flags.BoolVar(&o.brief, "brief", false, "only promises without a passing test")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.codes && o.letters != "":
		return o, errors.New("--codes: cannot be combined with --letters; use --domain")
	case !o.codes && o.domain != "":
		return o, errors.New("--domain: needs --codes; statements are selected with --letters")
	case o.codes && o.list:
		return o, errors.New("the tests of codes are subtests: they are seen only when they run, so --codes cannot be combined with --list")
	case o.list && o.results != "":
		return o, errors.New("--list: cannot be combined with --results")
	}
	return o, nil
}

// writePromises writes docs/promises.md.
func (o options) writePromises() error {
	groups, err := checklist.PromiseGroups()
	if err != nil {
		return err
	}
	module, err := checklist.Open(o.root)
	if err != nil {
		return err
	}
	page, err := module.PromisesPage(groups)
	if err != nil {
		return err
	}
	return os.WriteFile(o.promises, []byte(page), 0o644) //nolint:gosec // a page of the documentation
}

// report does what the flags say.
func (o options) report(ctx context.Context, say io.Writer) (checklist.Report, error) {
	none := checklist.Report{}
	systems, err := checklist.Systems()
	if err != nil {
		return none, err
	}
	module, err := checklist.Open(o.root)
	if err != nil {
		return none, err
	}
	tests := module.StatementTests(o.letters)
	if o.codes {
		tests = module.CodeTests()
	}
	results, err := o.obtain(ctx, module, tests, say)
	if err != nil {
		return none, err
	}
	var rows []checklist.Row
	var problem error
	if o.codes {
		rows, problem = checklist.Codes(systems, o.domain, candor.Codes(), tests, results)
	} else {
		rows, problem = checklist.Statements(systems, o.letters, tests, results)
	}
	if len(rows) == 0 {
		return none, errors.New("--letters or --domain: no statement or code selected")
	}
	return checklist.NewReport(rows, problem), nil
}

// obtain runs the tests, or reads how they ran.
func (o options) obtain(ctx context.Context, m *checklist.Module, tests []checklist.Func, say io.Writer) (checklist.Results, error) {
	switch {
	case o.list:
		return checklist.ListOnly, nil
	case o.results == "":
		return m.Run(ctx, tests, say)
	}
	file, err := os.Open(o.results)
	if err != nil {
		return checklist.Results{}, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return checklist.Read(file, m.Path, io.Discard)
}

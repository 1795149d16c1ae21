// Run asks published MCP servers the same questions directly and through `candor wrap`, prints what became of each answer and
// fails if one of them is not as it must be.
//
//	go run ./internal/realservers/run                      the few servers of every run
//	go run ./internal/realservers/run -all                 all of them
//	go run ./internal/realservers/run -all -install        only fetch what is needed
//	go run ./internal/realservers/run -all -markdown FILE  and write the report; -json FILE for programs
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor/internal/conformance"
	"github.com/candor-mcp/candor/internal/realservers"
)

// limit is for a server that hangs, or a registry that does; a server takes seconds.
const limit = 20 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "realservers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	all := flags.Bool("all", false, "all servers, not only the few of every run")
	install := flags.Bool("install", false, "fetch what is needed, and stop")
	only := flags.String("only", "", "only the server of this name")
	markdown := flags.String("markdown", "", "write the report for people to this file")
	programs := flags.String("json", "", "write the report for programs to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	box, err := conformance.OpenToolbox()
	if err != nil {
		return err
	}
	servers := chosen(*all, *only)
	if len(servers) == 0 {
		return fmt.Errorf("there is no server %q in the list", *only)
	}
	if *install {
		return box.Fetch(ctx, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }, realservers.Packages(servers)...)
	}
	report, err := ask(ctx, box, servers, out)
	if err != nil {
		return err
	}
	err = errors.Join(write(*markdown, report.WriteMarkdown), write(*programs, report.WriteJSON))
	for _, a := range report.Servers {
		if !a.OK() {
			err = errors.Join(err, fmt.Errorf("%s: %d cases wrong; %s", a.Name, a.Sum(realservers.Wrong), strings.Join(append(a.Problems, a.Absent), "; ")))
		}
	}
	return err
}

func chosen(all bool, only string) []realservers.Server {
	if only != "" {
		for _, s := range realservers.Servers {
			if s.Name == only {
				return []realservers.Server{s}
			}
		}
		return nil
	}
	if all {
		return realservers.Servers
	}
	return realservers.Quick()
}

// ask asks every server in turn, and prints each account as soon as it is there.
func ask(ctx context.Context, box conformance.Toolbox, servers []realservers.Server, out io.Writer) (realservers.Report, error) {
	dir, err := os.MkdirTemp("", "realservers-")
	if err != nil {
		return realservers.Report{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left behind in the temporary one harms nobody
	candor, err := conformance.BuildCandor(ctx, dir)
	if err != nil {
		return realservers.Report{}, err
	}
	trial := realservers.Trial{Box: box, Candor: candor, Dir: dir, Offline: realservers.Offline()}
	report := realservers.Report{Date: time.Now().UTC().Format(time.DateOnly), Offline: trial.Offline != nil}
	if report.Candor, err = firstLine(ctx, candor, "version"); err != nil {
		return report, err
	}
	report.Candor = strings.TrimPrefix(report.Candor, "candor ")
	node, err := box.Node(ctx)
	if err != nil {
		return report, err
	}
	if report.Node, err = firstLine(ctx, node, "--version"); err != nil {
		return report, err
	}
	for _, s := range servers {
		account, err := trial.Ask(ctx, s)
		if err != nil {
			account.Absent = err.Error()
		}
		if err := account.Print(out); err != nil {
			return report, err
		}
		report.Servers = append(report.Servers, account)
	}
	return report, nil
}

func firstLine(ctx context.Context, command ...string) (string, error) {
	text, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line, err
}

// write writes a report to a file, if one is named.
func write(name string, report func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var text strings.Builder
	if err := report(&text); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text.String()), 0o600)
}

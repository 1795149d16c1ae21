// Run asks published MCP servers the same questions directly and through `candor wrap`, prints the verdict on each
// answer and fails if one of them is wrong.
//
//	go run ./cmd/internal/testing/realservers/run                      the few servers of every run
//	go run ./cmd/internal/testing/realservers/run -all                 all of them
//	go run ./cmd/internal/testing/realservers/run -all -install        only fetch what is needed
//	go run ./cmd/internal/testing/realservers/run -all -markdown FILE  and write the report; -json FILE for programs
//
// With -probe it runs `candor probe` on them instead: directly, behind `candor wrap` with the learnt profile, and
// directly again.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
	"github.com/candor-mcp/candor/cmd/internal/testing/realservers"
)

func main() {
	var c choice
	os.Exit(conformance.Program{
		Name:  "realservers",
		Limit: 20 * time.Minute, // a server takes seconds
		Flags: c.register, Fetch: c.fetch, Work: c.work,
	}.Main())
}

// choice holds the flags.
type choice struct {
	all, probing             bool
	only, markdown, programs string
}

func (c *choice) register(flags *flag.FlagSet) {
	flags.BoolVar(&c.all, "all", false, "all servers, not only the few of every run")
	flags.BoolVar(&c.probing, "probe", false, "put them through candor probe, with and without the gateway")
	flags.StringVar(&c.only, "only", "", "only the server of this name")
	flags.StringVar(&c.markdown, "markdown", "", "write the report for people to this file")
	flags.StringVar(&c.programs, "json", "", "write the report for programs to this file")
}

func (c *choice) servers() ([]realservers.Server, error) {
	switch {
	case c.only != "":
		for _, s := range realservers.Servers {
			if s.Name == c.only {
				return []realservers.Server{s}, nil
			}
		}
		return nil, fmt.Errorf("unknown server %q", c.only)
	case c.all:
		return realservers.Servers, nil
	default:
		return realservers.Quick(), nil
	}
}

func (c *choice) fetch(ctx context.Context, box conformance.Toolbox, say func(string, ...any)) error {
	servers, err := c.servers()
	if err != nil {
		return err
	}
	return box.Fetch(ctx, say, realservers.Packages(servers)...)
}

func (c *choice) work(ctx context.Context, box conformance.Toolbox, dir string, out io.Writer) error {
	servers, err := c.servers()
	if err != nil {
		return err
	}
	if c.probing {
		return c.probe(ctx, box, servers, dir, out)
	}
	report, err := ask(ctx, box, servers, dir, out)
	if err != nil {
		return err
	}
	err = errors.Join(write(c.markdown, report.WriteMarkdown), writeJSON(c.programs, report))
	for _, a := range report.Servers {
		if !a.OK() {
			err = errors.Join(err, fmt.Errorf("%s: %d cases wrong; %s", a.Name, a.Sum(realservers.Wrong), strings.Join(append(a.Problems, a.Absent), "; ")))
		}
	}
	return err
}

// ask asks every server in turn and prints each account when it is complete.
func ask(ctx context.Context, box conformance.Toolbox, servers []realservers.Server, dir string, out io.Writer) (realservers.Report, error) {
	candor, versions, err := prepared(ctx, box, dir)
	if err != nil {
		return realservers.Report{}, err
	}
	trial := realservers.Trial{Box: box, Candor: candor, Dir: dir, Offline: realservers.Offline()}
	report := realservers.Report{Versions: versions, Offline: trial.Offline != nil}
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

// prepared builds the candor command in dir and returns its path and the versions in use.
func prepared(ctx context.Context, box conformance.Toolbox, dir string) (candor string, v realservers.Versions, err error) {
	if candor, err = conformance.BuildCandor(ctx, dir); err != nil {
		return candor, v, err
	}
	if v.Candor, err = firstLine(ctx, candor, "version"); err != nil {
		return candor, v, err
	}
	v.Date, v.Candor = time.Now().UTC().Format(time.DateOnly), strings.TrimPrefix(v.Candor, "candor ")
	node, err := box.Node(ctx)
	if err == nil {
		v.Node, err = firstLine(ctx, node, "--version")
	}
	return candor, v, err
}

func firstLine(ctx context.Context, command ...string) (string, error) {
	text, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line, err
}

// write writes a report to a file; an empty name writes nothing.
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

func writeJSON(name string, report any) error {
	return write(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(report)
	})
}

package conformance

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Program is a command that works with third-party tools. With the flag -install it only installs them.
type Program struct {
	Name  string
	Limit time.Duration // time limit, in case a tool or registry hangs
	Flags func(*flag.FlagSet)
	// Fetch installs the required tools and reports its progress through say.
	Fetch func(ctx context.Context, box Toolbox, say func(format string, args ...any)) error
	// Work may use the directory dir, which is removed afterwards.
	Work func(ctx context.Context, box Toolbox, dir string, out io.Writer) error
}

// Main runs the program with the arguments of the process until it is interrupted, and returns the exit code.
func (p Program) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := p.Run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}

// Run parses the arguments and runs the program.
func (p Program) Run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	install := flags.Bool("install", false, "fetch what is needed, and stop")
	p.Flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	box, err := OpenToolbox()
	if err != nil {
		return err
	}
	if *install {
		return p.Fetch(ctx, box, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	}
	dir, err := os.MkdirTemp("", p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays in the temporary folder is harmless
	return p.Work(ctx, box, dir, out)
}

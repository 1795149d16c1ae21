package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
)

// zooCommand holds the flags of `candor zoo`.
type zooCommand struct {
	w       *world
	options zoo.Options
	listen  string
	list    bool
	json    bool
}

func newZoo(w *world) *cobra.Command {
	c := &zooCommand{w: w}
	cmd := &cobra.Command{
		Use:   "zoo",
		Short: "A server with every defect that we know",
		Long: `Serve a deliberately bad MCP server, to try a client, a gateway or candor probe on: one tool for each defect, honest
otherwise. --list tells what there is; --defect and --personality choose. It does no harm to anything but the client that believes it.`,
		Example: `  candor zoo --list
  candor probe -- candor zoo
  candor probe -- candor zoo --personality dual
  candor wrap -- candor zoo --defect masked-text`,
		Args: atMost(0, "candor zoo --list"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.options.Personality, "personality", "", "a named set of defects")
	flags.StringSliceVar(&c.options.Defects, "defect", nil, "a defect to show; may be repeated")
	flags.StringVar(&c.options.Upstream, "upstream", "", "the address of the service behind the tools whose names begin with up-")
	flags.DurationVar(&c.options.Deadline, "deadline", 0, "how long a client is thought to wait")
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of standard input and output")
	flags.BoolVar(&c.list, "list", false, "list personalities and defects, and serve nothing")
	flags.BoolVar(&c.json, "json", false, "with --list: print JSON")
	return cmd
}

func (c *zooCommand) run(cmd *cobra.Command) error {
	if c.list {
		return c.show()
	}
	if err := c.options.Check(); err != nil {
		return bad("candor zoo --list", "%s", err)
	}
	ctx, stop := untilStopped(cmd)
	defer stop()
	if c.listen == "" {
		err := zoo.Serve(ctx, c.w.in, atOnce{c.w.out}, c.options)
		if errors.Is(err, zoo.ErrCrash) {
			return &fault{code: exitFound, text: err.Error()}
		}
		return err
	}
	return c.serveHTTP(ctx, cmd)
}

func (c *zooCommand) serveHTTP(ctx context.Context, cmd *cobra.Command) error {
	if err := checkReach(c.listen, ""); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return bad("choose another address with --listen", "%s", err)
	}
	c.w.notify(cmd, "listening on http://"+listener.Addr().String()+"/mcp", "")
	server := &http.Server{Handler: zoo.Handler(c.options), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (c *zooCommand) show() error {
	if c.json {
		return writeLine(c.w.out, map[string]any{"personalities": zoo.Personalities(), "defects": zoo.Defects()})
	}
	paint := c.w.paint()
	fmt.Fprintln(c.w.out, paint.bold("Personalities"))
	for _, p := range zoo.Personalities() {
		fmt.Fprintf(c.w.out, "  %s  %s\n", paint.name(pad(p.Name, 12)), p.About)
	}
	fmt.Fprintln(c.w.out, paint.bold("Defects"))
	for _, d := range zoo.Defects() {
		fmt.Fprintf(c.w.out, "  %s  %s  %s\n", paint.name(pad(d.ID, 24)), pad(d.Rule, 6), d.Title)
	}
	return nil
}

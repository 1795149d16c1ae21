package probecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
)

// zooCommand has the flags of `candor zoo`.
type zooCommand struct {
	env     *term.Env
	options zoo.Options
	listen  string
	list    bool
	json    bool
}

// NewZoo returns `candor zoo`.
func NewZoo(env *term.Env) *cobra.Command {
	c := &zooCommand{env: env}
	cmd := &cobra.Command{
		Use:   "zoo",
		Short: "Serve a bad MCP server with all known defects",
		Long: `Serve a deliberately bad MCP server, to test a client, a gateway or candor probe: one tool for each defect, correct
otherwise. --list lists the defects, and --defect chooses some of them. It changes nothing on this machine.`,
		Example: `  candor zoo --list
  candor probe -- candor zoo
  candor probe -- candor zoo --defect 'masked-*'
  candor wrap -- candor zoo --defect masked-text`,
		Args: term.MaxArgs(0, "candor zoo --list"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.options.Defects, "defect", nil, "defect to serve, or a pattern such as masked-*, or none; may be repeated")
	flags.StringVar(&c.options.Upstream, "upstream", "", "URL of the service behind the tools whose names begin with up-")
	flags.DurationVar(&c.options.Deadline, "deadline", 0, "assumed timeout of the client")
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of on standard input and output")
	flags.BoolVar(&c.list, "list", false, "list the defects, serve nothing")
	flags.BoolVar(&c.json, "json", false, "with --list: print JSON")
	return cmd
}

func (c *zooCommand) run(cmd *cobra.Command) error {
	if c.list {
		return c.show()
	}
	if err := c.options.Check(); err != nil {
		return term.BadInput("candor zoo --list", "%s", err)
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	if c.listen == "" {
		err := zoo.Serve(ctx, c.env.In, term.Unbuffered{To: c.env.Out}, c.options)
		if errors.Is(err, zoo.ErrCrash) {
			return &term.Error{Code: term.ExitFound, Text: err.Error()}
		}
		return err
	}
	return c.serveHTTP(ctx, cmd)
}

func (c *zooCommand) serveHTTP(ctx context.Context, cmd *cobra.Command) error {
	if err := term.CheckListen(c.listen, ""); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return term.BadInput("choose another address with --listen", "%s", err)
	}
	c.env.Notify(cmd, "listening on http://"+listener.Addr().String()+"/mcp", "")
	server := &http.Server{Handler: zoo.Handler(c.options), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (c *zooCommand) show() error {
	all, colors := zoo.Defects(), c.env.Colors()
	return term.WriteReport(c.env, c.json, map[string]any{"defects": all}, true, func() {
		for _, d := range all {
			fmt.Fprintf(c.env.Out, "%s  %s  %s\n", colors.Name(term.Pad(d.ID, 24)), term.Pad(d.Rule, 6), d.Title)
		}
	})
}

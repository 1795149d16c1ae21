package doctorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/cmd/internal/newconfig"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/plural"
)

// initCommand has the flags of `candor init`.
type initCommand struct {
	env     *term.Env
	sources sourceFlags
	out     string
	force   bool
	dryRun  bool
	json    bool
}

// NewInit returns `candor init`.
func NewInit(env *term.Env) *cobra.Command {
	c := &initCommand{env: env}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a candor.yaml for the servers of your MCP clients",
		Long: `Write a commented candor.yaml for candor gateway from the servers in the files of MCP clients: those of --from
and --client, else those of all known clients. The files of the clients are not changed, and no server is started.
Servers in files of the current folder (.mcp.json, .cursor/mcp.json, …) are written only with --project, or if
--from names the file: the folder may be a clone of a repository of others.

A server with a URL, and without headers in its entry, is asked once whether it needs a log-in with OAuth: the gateway
cannot pass that on, so it is left out, with what to do instead.

No secret is copied. The values of env and headers become references to environment variables, which must be set
where the gateway is started. A server with what seems to be a secret in its command or address is left out and listed,
as is one that cannot be read, is disabled, or has placeholders of its client.

The file is readable only by its owner. An existing file is replaced only with --force.`,
		Example: `  candor init --dry-run
  candor init --client cursor
  candor init --from mcp.json --out gateway/candor.yaml
  candor gateway check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.sources.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.out, "out", defaultConfig, "file to write")
	flags.BoolVar(&c.force, "force", false, "replace an existing file")
	flags.BoolVar(&c.dryRun, "dry-run", false, "print the file and write nothing")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

// initReport is the output of --json.
type initReport struct {
	*newconfig.Config
	File    string `json:"file"`
	Written bool   `json:"written"`
	Text    string `json:"text,omitempty"` // with --dry-run
}

func (c *initCommand) run(cmd *cobra.Command) error {
	if c.out == "" {
		return term.BadInput("such as --out candor.yaml", "--out: empty")
	}
	made, err := c.config(cmd)
	if err != nil {
		return err
	}
	if !c.dryRun {
		if err := c.write(made.Text); err != nil {
			return err
		}
	}
	if c.json {
		report := initReport{Config: made, File: c.out, Written: !c.dryRun}
		if c.dryRun {
			report.Text = made.Text
		}
		return term.WriteJSONLine(c.env.Out, report)
	}
	if c.dryRun {
		_, err = c.env.Out.Write([]byte(made.Text))
		return err
	}
	c.show(made)
	return nil
}

// config reads the sources and makes the configuration.
func (c *initCommand) config(cmd *cobra.Command) (*newconfig.Config, error) {
	files, err := c.sources.read(c.env, cmd)
	if err != nil {
		return nil, err
	}
	var sources []newconfig.Source
	for _, f := range files {
		switch {
		case f.Err != nil && f.Start:
			text, hint := term.SplitHint(f.Err)
			if hint == "" {
				hint = "correct the file, or name another one"
			}
			return nil, term.BadInput(hint, "%s: %s", f.Path, text)
		case f.Err != nil:
			c.env.Notify(cmd, term.Printable(f.Name())+" was not read: "+term.Printable(f.Err.Error()), "")
		case len(f.Servers) > 0:
			source := newconfig.Source{Title: f.Name(), Servers: f.Servers}
			if f.Project && !f.Start {
				source.Without = "from this folder's files; to write it add --project"
			}
			sources = append(sources, source)
		}
	}
	made, err := newconfig.New(sources, func(addresses []*url.URL) map[string]bool { return doctor.Logins(cmd.Context(), addresses) })
	if err != nil {
		return nil, term.BadInput("report this, with the names of the servers; nothing was written", "%s", err)
	}
	if len(files) == 0 {
		return nil, term.BadInput("name a file with --from; candor install lists where it looks", "no configuration file of an MCP client was found")
	}
	if len(made.Servers) == 0 {
		c.showLeft(cmd, made)
		return nil, term.BadInput("name a file with --from, or serve one server without a file: candor gateway --upstream NAME=URL", "no server was found that can be written")
	}
	return made, nil
}

// write writes the file with one rename, so that a crash leaves the old or the new file.
func (c *initCommand) write(text string) error {
	full := term.AbsolutePath(c.out)
	info, err := os.Lstat(full)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return term.BadInput("choose another name with --out", "%s: exists and is not a regular file", c.out)
	case err == nil && !c.force:
		return term.BadInput("choose another name with --out, replace it with --force, or see the result with --dry-run", "%s: already exists", c.out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return term.BadInput("choose a file that can be written with --out", "%s", err)
	}
	root, err := os.OpenRoot(filepath.Dir(full))
	if err != nil {
		return term.BadInput("create the folder first, or choose another with --out", "%s", err)
	}
	defer root.Close() //nolint:errcheck // the file is already synced
	if err := durable.WriteFile(root, filepath.Base(full), []byte(text), 0o600); err != nil {
		return term.BadInput("choose a file that can be written with --out", "writing %s: %s", c.out, err)
	}
	return nil
}

func (c *initCommand) show(made *newconfig.Config) {
	colors := c.env.Colors()
	fmt.Fprintf(c.env.Out, "%s %s with %s:\n", colors.Good("wrote"), term.Printable(c.out), plural.Of(len(made.Servers), "server"))
	for _, s := range made.Servers {
		fmt.Fprintf(c.env.Out, "  %s, from %s\n", colors.Name(s.Name), term.Printable(strings.Join(s.Sources, "; ")))
		for _, note := range s.Notes {
			fmt.Fprintf(c.env.Out, "    %s %s\n", colors.Warn("left out"), term.Printable(note))
		}
	}
	for _, l := range made.Left {
		fmt.Fprintf(c.env.Out, "%s %s, from %s: %s\n", colors.Warn("left out"), term.Printable(l.Name), term.Printable(l.Source), term.Printable(l.Reason))
	}
	if len(made.Variables) > 0 {
		fmt.Fprintf(c.env.Out, "set these variables where the gateway is started: %s\n", strings.Join(made.Variables, ", "))
	}
	fmt.Fprintf(c.env.Out, "next: candor gateway check --config %s\n", term.Printable(c.out))
}

func (c *initCommand) showLeft(cmd *cobra.Command, made *newconfig.Config) {
	for _, l := range made.Left {
		c.env.Notify(cmd, fmt.Sprintf("left out %s, from %s: %s", term.Printable(l.Name), term.Printable(l.Source), term.Printable(l.Reason)), "")
	}
}

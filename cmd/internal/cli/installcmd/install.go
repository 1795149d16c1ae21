// Package installcmd has `candor install` and `candor uninstall`.
package installcmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/plural"
)

// command has the flags of both commands.
type command struct {
	env     *term.Env
	cmd     *cobra.Command
	system  clientconfig.System
	remove  bool // uninstall
	json    bool
	dryRun  bool
	all     bool
	project bool
	remote  bool
	hook    bool
	clients []string
	servers []string
	command string
	picked  map[string]bool // choice at the terminal, by key
	answers *bufio.Reader   // input of the terminal
	shown   bool            // the changes were shown before
}

// NewInstall returns `candor install`.
func NewInstall(env *term.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Put candor wrap before the servers of MCP clients",
		Long: `Find the configuration files of MCP clients, list their servers, and put candor wrap before the command of
the chosen ones. Without a choice the command lists what it found; at a terminal it then asks which to change, shows
the difference, and asks before it writes.

Clients: ` + clientList() + `.

Only servers that the client starts (a command and its arguments) can be changed. An edit replaces the command
and adds arguments before the server's own; all other text of the file, with comments, order and line ends, stays
as it is. Among the added arguments is --name with the name of the entry, by which ledger and console tell servers apart;
earlier entries without it are left as they are. The old file is kept beside the new one as NAME.candor-backup-TIME,
and candor uninstall restores the same bytes. A second run changes nothing. Values that look like secrets are not
printed, and variables never are.

A server with a URL is changed only with --remote: the client then starts candor wrap -- npx -y mcp-remote URL, and
mcp-remote, an npm package of others, connects to the server and does its log-in. Entries with headers, with
settings of a log-in, or with a placeholder or a secret in the address are left alone.

With --hook the command changes no server: it writes candor hook into the settings of Claude Code and GitHub Copilot CLI,
so that their models get an explanation of each failed call, also of remote servers and of the client's own tools. For
the failures of servers behind candor wrap it adds nothing.

A server is broken if its entry runs candor at a path where it no longer is. It can be chosen like an unprotected
one: its entry gets the path of this program, and keeps the rest.

Files of the project in the current folder (.mcp.json, .cursor/mcp.json, …) are listed, but are changed only with
--project: they are often shared with people for whom candor is at another path. See --command.

With --json the output is one object. Its member files is an array of objects with client, file, project, error,
written, backup and servers; a server has name, project, status (unprotected, protected, broken, not stdio, managed,
unsupported), problem, line (the command line), url, and after (the new command line) if it changes. Without any
file the member looked has the paths where none was found.

Exit codes: 0 done, or nothing to do; 1 a file or a chosen server could not be read or changed; 2 bad usage.`,
		Example: `  candor install                          list clients and servers
  candor install --all --dry-run          show what would change
  candor install --all
  candor install --client cursor --server github
  candor install --all --project --command candor
  candor install --server linear --remote
  candor install --hook
  candor install --all --command "npx -y candor-mcp"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(cmd)
	cmd.Flags().BoolVar(&c.remote, "remote", false, "change servers with a URL too: candor wrap -- npx -y mcp-remote URL")
	cmd.Flags().StringVar(&c.command, "command", "", "command that starts candor; default this program")
	return cmd
}

// NewUninstall returns `candor uninstall`.
func NewUninstall(env *term.Env) *cobra.Command {
	c := &command{env: env, remove: true}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove candor wrap from the servers of MCP clients",
		Long: `Undo candor install: the chosen servers get their own command and arguments back, byte for byte. Changes that
were made to the file since are kept. Without a choice the command lists the servers; at a terminal it then asks
which to change, shows the difference, and asks before it writes.
If the file is as it was before the installation, its backup is removed, otherwise it stays. The hooks of candor install
--hook count as servers; a file that had nothing else is removed.

The output with --json and the exit codes are those of candor install.`,
		Example: `  candor uninstall --all --dry-run
  candor uninstall --all
  candor uninstall --client vscode --server github
  candor uninstall --hook`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(cmd)
	return cmd
}

func clientList() string {
	var names []string
	for _, c := range clientconfig.Clients() {
		names = append(names, c.Title)
	}
	return term.JoinWords(names)
}

func (c *command) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&c.all, "all", false, "choose all servers")
	flags.StringSliceVar(&c.clients, "client", nil, "choose the servers of a client: "+term.JoinWords(clientconfig.IDs())+"; may be repeated")
	flags.StringArrayVar(&c.servers, "server", nil, "choose the servers with this name; may be repeated")
	flags.BoolVar(&c.project, "project", false, "change the files of the current folder too")
	flags.BoolVar(&c.hook, "hook", false, "choose the failure hooks of clients, and no servers")
	flags.BoolVar(&c.dryRun, "dry-run", false, "show the changes, write nothing")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	term.CompleteFlag(cmd, "client", clientconfig.IDs())
}

func (c *command) run(cmd *cobra.Command) error {
	c.cmd = cmd
	c.system = clientconfig.LocalSystem(c.env.Getenv, term.AbsolutePath("."))
	files := c.files()
	if err := c.checkFlags(files); err != nil {
		return err
	}
	switch {
	case len(files) == 0 && !c.json:
		return c.sayNothingFound()
	case !c.chosen():
		return c.listAndAsk(files)
	}
	return c.changeAll(files)
}

// files returns the files of the clients: those with servers, or with --hook those for hooks. uninstall also has the hooks that
// are installed.
func (c *command) files() (files []clientconfig.File) {
	if !c.hook {
		files = clientconfig.Discover(c.system)
	}
	if !c.hook && !c.remove {
		return files
	}
	for _, f := range clientconfig.DiscoverHooks(c.system) {
		if c.hook || slices.ContainsFunc(f.Servers, clientconfig.Server.Removable) {
			files = append(files, f)
		}
	}
	return files
}

// sayNothingFound prints where configuration files were looked for, and what to do.
func (c *command) sayNothingFound() error {
	if c.hook {
		return term.BadInput("start the client once, so that it makes its folder", "neither Claude Code nor GitHub Copilot CLI is installed here")
	}
	if c.system.Home == "" {
		return term.BadInput("set "+clientconfig.HomeVariable()+" to your home folder", "no configuration file of an MCP client was found: the home folder is not known")
	}
	fmt.Fprintln(c.env.Out, "No configuration file of an MCP client was found. Looked for (docs/clients.md and --json list all):")
	c.places()
	if c.remove {
		fmt.Fprintln(c.env.Out, "\nNothing to do. If a client keeps its file elsewhere, remove candor wrap -- from it by hand.")
		return nil
	}
	words, err := candorCommand(c.command, c.system.OS)
	if err != nil {
		words = []string{term.ProgramName}
	}
	fmt.Fprintf(c.env.Out, "\nAdd a server in a client, then run candor install again. If a client keeps its file elsewhere, put this in the\nentry of a server yourself, in place of its command and before its arguments:\n%s\n",
		clientconfig.Clients()[0].Example(words))
	return nil
}

// listAndAsk lists the servers and, at a terminal, asks which to change.
func (c *command) listAndAsk(files []clientconfig.File) error {
	if c.json {
		var reports []fileReport
		for _, f := range files {
			reports = append(reports, newReport(f, clientconfig.Result{}, nil))
		}
		if err := c.writeReport(reports); err != nil {
			return err
		}
		return unreadable(files)
	}
	c.list(files)
	o := c.offer(files)
	ask := len(o.keys) > 0 && c.env.Interactive && !c.dryRun
	c.sayNext(o, ask)
	if ask {
		picked, err := c.ask(o.keys)
		if err != nil || len(picked) == 0 {
			return err
		}
		c.picked = picked
		return c.confirmAndChange(files)
	}
	return unreadable(files)
}

// unreadable returns the exit code 1 if a file could not be read. The reason is in the output already.
func unreadable(files []clientconfig.File) error {
	for _, f := range files {
		if f.Err != nil {
			return term.Found()
		}
	}
	return nil
}

// sayNext prints a summary and, unless a question follows, the commands to type.
func (c *command) sayNext(o offer, ask bool) {
	name, word, open, broken := "install", "unprotected", len(o.keys), o.broken
	if c.remove {
		name, word = "uninstall", "behind candor"
	}
	fmt.Fprintln(c.env.Out)
	if open > broken || broken == 0 {
		fmt.Fprintf(c.env.Out, "%s %s.\n", plural.Count(open-broken, "server is", "servers are"), word)
	}
	if broken > 0 {
		fmt.Fprintf(c.env.Out, "%s broken: candor is missing, so that the client cannot start the server.\n", plural.Count(broken, "server is", "servers are"))
	}
	if o.closed > 0 {
		fmt.Fprintf(c.env.Out, "%d more in files of the project; add --project to change those too.\n", o.closed)
	}
	if open > 0 && !ask {
		fmt.Fprintf(c.env.Out, "To change them:\n  candor %s --all --dry-run\n  candor %s --all\n  candor %s --client ID --server NAME\n", name, name, name)
	}
	if hooks := (&command{system: c.system, hook: true}).files(); !c.remove && slices.ContainsFunc(hooks, func(f clientconfig.File) bool {
		return slices.ContainsFunc(f.Servers, clientconfig.Server.Installable)
	}) {
		fmt.Fprintln(c.env.Out, "To explain failures of remote servers and of a client's own tools too: candor install --hook")
	}
}

// changeAll changes the chosen servers in every file.
func (c *command) changeAll(files []clientconfig.File) error {
	out, err := c.apply(files)
	switch {
	case err != nil:
	case c.json:
		err = c.writeReport(out.reports)
	default:
		c.sayDone(out)
	}
	if err == nil && out.failed {
		return term.Found()
	}
	return err
}

// confirmAndChange shows the changes that were chosen at the terminal, and makes them after a question.
func (c *command) confirmAndChange(files []clientconfig.File) error {
	c.dryRun = true
	out, err := c.apply(files)
	if err != nil {
		return err
	}
	if out.changes == 0 {
		return term.Found() // the reason was printed
	}
	fmt.Fprint(c.env.Out, "\nWrite these changes? [y/N] ")
	answer, err := c.readAnswer()
	if err != nil {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		fmt.Fprintln(c.env.Out, "Nothing was changed.")
		return nil
	}
	c.dryRun, c.shown = false, true
	return c.changeAll(files)
}

// outcome counts what was done.
type outcome struct {
	reports                   []fileReport
	servers, changes, written int
	failed                    bool
}

// apply changes the chosen servers in every file and shows each change. A file that fails does not stop the others.
func (c *command) apply(files []clientconfig.File) (out outcome, err error) {
	editor, err := c.editor()
	if err != nil {
		return out, err
	}
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	out.failed = c.refuseChosen(files)
	for _, f := range files {
		if !c.mayChange(f) || !c.fileChosen(f) {
			continue
		}
		if ctx.Err() != nil {
			return out, term.Unfinished(fmt.Errorf("interrupted; %d files were changed", out.written))
		}
		r, err := c.changeOne(ctx, editor, f)
		out.add(newReport(f, r, err), r, err)
		if err != nil {
			c.explain(f, editor, err)
		}
		switch {
		case c.json:
		case len(r.Changes) > 0 && (err == nil || r.Written):
			c.changed(f, r)
		case err == nil:
			c.leftAlone(f, true)
		}
	}
	return out, nil
}

func (o *outcome) add(report fileReport, r clientconfig.Result, err error) {
	o.reports = append(o.reports, report)
	o.servers += len(report.Servers)
	o.changes += len(r.Changes)
	o.failed = o.failed || err != nil
	if r.Written {
		o.written++
	}
}

func (c *command) changeOne(ctx context.Context, editor *clientconfig.Editor, f clientconfig.File) (clientconfig.Result, error) {
	if f.Err != nil {
		return clientconfig.Result{}, f.Err
	}
	chosen := func(s clientconfig.Server) bool { return c.serverChosen(f, s) }
	if c.remove {
		return editor.Uninstall(ctx, f, chosen)
	}
	return editor.Install(ctx, f, chosen)
}

func (c *command) editor() (e *clientconfig.Editor, err error) {
	e = &clientconfig.Editor{Now: c.env.Now, DryRun: c.dryRun, Remote: c.remote}
	if !c.remove {
		e.Candor, err = candorCommand(c.command, c.system.OS)
	}
	return e, err
}

// sayDone prints the last line.
func (c *command) sayDone(o outcome) {
	switch {
	case o.changes == 0 && o.failed:
	case o.changes == 0 && o.servers == 0:
		fmt.Fprintln(c.env.Out, "Nothing to do: the chosen files have no servers.")
	case o.changes == 0 && c.remove:
		fmt.Fprintln(c.env.Out, "Nothing to do: none of the chosen servers is behind candor.")
	case o.changes == 0:
		fmt.Fprintln(c.env.Out, "Nothing to do: no chosen server needs a change.")
	case c.dryRun && o.failed:
		fmt.Fprintln(c.env.Out, "\nNothing was written. Leave out --dry-run to make the changes above; the problems remain.")
	case c.dryRun:
		fmt.Fprintln(c.env.Out, "\nNothing was written. Leave out --dry-run to make the changes.")
	case o.written > 0 && o.failed:
		fmt.Fprintf(c.env.Out, "\nDone in part: %s changed, and the problems above remain. Restart the clients, which read the file when they start.\n",
			plural.Count(o.written, "file was", "files were"))
	case o.written > 0 && c.remove:
		fmt.Fprintln(c.env.Out, "\nDone. Restart the clients, which read the file when they start.")
	case o.written > 0:
		undo := "candor uninstall --all"
		if c.project {
			undo += " --project"
		}
		if c.hook {
			undo += " --hook"
		}
		fmt.Fprintln(c.env.Out, "\nDone. Restart the clients, which read the file when they start. To undo: "+undo)
	}
}

// Package learncmd has the command candor learn.
package learncmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/durable"
)

// learnCommand has the flags of `candor learn`.
type learnCommand struct {
	env          *term.Env
	server, tool string
	since        term.AgeFlag
	top          int
	accept       []string
	all, json    bool
	write        string
}

// New returns the command candor learn.
func New(env *term.Env) *cobra.Command {
	c := &learnCommand{env: env}
	cmd := &cobra.Command{
		Use:   "learn [DIR]",
		Short: "Propose rules for answers that were only suspected to be failures",
		Long: `Read a ledger, group the answers that were recorded as suspected failures by server, tool and shape, and propose
a rule for each shape. A suspicion never changes an answer; with a rule in the profile of the server, such answers are
certain failures. Each proposal has examples, its evidence, and the number of recorded answers that it would have changed.

Shapes that may be data are held back: --all leaves them out, and --accept takes them.

Nothing is written without --write FILE, which creates a profile for candor wrap --profile or extends one; other lines of
the file are kept. At a terminal the command asks for each proposal, unless --accept or --all is given.

DIR is the folder of the ledger; default is the environment variable CANDOR_LEDGER, else candor/ledger in the user's state folder.

Exit codes: 0 done; 2 an error.`,
		Example: `  candor learn
  candor learn --server shop --since 7d
  candor learn --server shop --accept 4f1c9a2e,07aa31c5 --write shop.yaml
  candor learn --server shop --all --write shop.yaml`,
		Args: term.MaxArgs(1, "candor learn DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.server, "server", "", "only this server")
	flags.StringVar(&c.tool, "tool", "", "only this tool")
	flags.Var(&c.since, "since", "only entries not older than this, such as 24h or 7d")
	flags.IntVar(&c.top, "top", 20, "number of shapes to print; 0 for all")
	flags.StringSliceVar(&c.accept, "accept", nil, "accept the shapes with these ids")
	flags.BoolVar(&c.all, "all", false, "accept all proposals, without those held back")
	flags.StringVar(&c.write, "write", "", "profile to create or extend with the accepted rules")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func (c *learnCommand) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if c.top < 0 {
		return term.BadInput("0 prints all", "--top %d: negative", c.top)
	}
	asks := c.write != "" && !c.all && len(c.accept) == 0
	if asks && (c.json || !c.env.Interactive) {
		return term.BadInput("use --accept ID or --all", "not a terminal, cannot ask which rules to write")
	}
	file, err := c.profile()
	if err != nil {
		return err
	}
	found, skipped, err := c.read(ctx, args, file)
	if err != nil {
		return err
	}
	chosen, err := c.chosen(found)
	if err != nil {
		return err
	}
	out := report{found: found, top: c.top, env: c.env, dir: args, command: c}
	if !c.json {
		out.text()
	}
	if asks {
		chosen = ask(c.env, found)
	}
	done, err := c.save(file, chosen)
	if err != nil {
		return err
	}
	if c.json {
		return out.json(chosen, done)
	}
	out.end(chosen, done)
	if skipped > 0 {
		c.env.Notify(cmd, term.Count(skipped, "invalid line was", "invalid lines were")+" skipped", "run candor ledger verify")
	}
	return nil
}

// read reads the ledger.
func (c *learnCommand) read(ctx context.Context, args []string, file *profileFile) (found *learn.Findings, skipped uint64, err error) {
	r, err := ledgercmd.OpenReader(c.env, args)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	o := learn.Options{Server: c.server, Tool: c.tool, Skipped: func(string, int64) { skipped++ }}
	if c.since > 0 {
		o.Since = c.env.Now().Add(-time.Duration(c.since))
	}
	if file != nil && file.rules != nil {
		o.Profile = file.rules.Rules
	}
	found, err = learn.Read(ctx, r, o)
	if err != nil {
		return nil, 0, term.BadInput("check the name and the permissions of the folder", "%s", err)
	}
	return found, skipped, nil
}

// chosen returns the shapes that the flags accept.
func (c *learnCommand) chosen(found *learn.Findings) (out []learn.Shape, err error) {
	ids := make([]string, len(found.Shapes))
	for i := range found.Shapes {
		ids[i] = found.Shapes[i].ID
	}
	for _, id := range c.accept {
		if !slices.Contains(ids, id) {
			return nil, term.BadInput("run candor learn without --accept to list the ids", "--accept %s: no such shape", term.Printable(id))
		}
	}
	for _, s := range found.Shapes {
		if slices.Contains(c.accept, s.ID) || c.all && s.Held == "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// profileFile is the file of --write as it was found.
type profileFile struct {
	data  []byte          // nil if there is no file
	rules *config.Profile // nil if there is no file
	mode  fs.FileMode
}

// profile reads the file of --write, so that a damaged one is reported before anything else.
func (c *learnCommand) profile() (*profileFile, error) {
	if c.write == "" {
		return nil, nil //nolint:nilnil // the file is optional
	}
	info, err := os.Stat(c.write)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Stat(filepath.Dir(c.write)); err != nil || !info.IsDir() {
			return nil, term.BadInput("create the folder, or choose another file", "--write: no such folder: %s", filepath.Dir(c.write))
		}
		return &profileFile{mode: 0o600}, nil
	case err != nil:
		return nil, term.BadInput("choose a file that can be read and written", "--write: %s", err)
	case !info.Mode().IsRegular():
		return nil, term.BadInput("choose a file", "--write %s: not a file", c.write)
	}
	p, err := config.ReadProfile(c.write, config.Source{})
	if err != nil {
		return nil, service.BadFile("--write", err)
	}
	data, err := os.ReadFile(c.write)
	if err != nil {
		return nil, term.BadInput("choose a file that can be read and written", "--write: %s", err)
	}
	return &profileFile{data: data, rules: p, mode: info.Mode().Perm()}, nil
}

// written is what was written to a profile.
type written struct {
	File    string `json:"file"`
	Added   int    `json:"added"`
	Present int    `json:"present"` // rules that the file had already
}

// save writes the rules of the chosen shapes. It returns nil if there is nothing to write.
func (c *learnCommand) save(file *profileFile, chosen []learn.Shape) (*written, error) {
	if file == nil || len(chosen) == 0 {
		return nil, nil //nolint:nilnil // nothing was written
	}
	masks, server := make([]profile.Mask, len(chosen)), chosen[0].Server
	for i := range chosen {
		if chosen[i].Server != server {
			return nil, term.BadInput("choose one with --server", "a profile is for one server, and the rules are for %s and %s", printed(server), printed(chosen[i].Server))
		}
		masks[i] = chosen[i].Mask()
	}
	data, added, err := learn.Extend(file.data, server, masks)
	if err != nil {
		return nil, term.BadInput("choose another file, or add the rules by hand; nothing was written", "--write %s: %s", c.write, err)
	}
	done := &written{File: c.write, Added: added, Present: len(masks) - added}
	if added == 0 {
		return done, nil
	}
	if err := replace(c.write, data, file.mode); err != nil {
		return nil, term.BadInput("choose a file that can be written; nothing was changed", "writing %s: %s", c.write, err)
	}
	return done, nil
}

// replace writes a file atomically. A link stays a link.
func replace(name string, data []byte, mode fs.FileMode) (err error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return durable.WriteFile(root, filepath.Base(name), data, mode)
}

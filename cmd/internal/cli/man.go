//go:build !slim

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func newMan(env *term.Env) *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "man --dir DIR",
		Short: "Write the manual pages of every command into a folder",
		Long: `Write the manual pages of every command into a folder, creating it if necessary. If SOURCE_DATE_EPOCH is
set, it is the date on the pages, so that builds are reproducible.`,
		Example: "  candor man --dir man/man1\n  man -l man/man1/candor-decode.1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return term.BadInput("candor man --dir man/man1", "--dir: missing")
			}
			if err := os.MkdirAll(dir, 0o750); err != nil {
				return term.BadInput("choose a folder that can be written", "%s", err)
			}
			return writePages(env, cmd.Root(), dir, format)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to")
	term.Choice(cmd, &format, "format", pageFormats[0], "page format: "+term.JoinWords(pageFormats), pageFormats)
	return cmd
}

var pageFormats = []string{"man", "markdown"}

func writePages(env *term.Env, root *cobra.Command, dir, format string) error {
	root.DisableAutoGenTag = true
	if format == "markdown" {
		return doc.GenMarkdownTree(root, dir)
	}
	header := &doc.GenManHeader{Section: "1", Source: term.ProgramName, Manual: "Candor"}
	if env.Getenv("SOURCE_DATE_EPOCH") == "" {
		now := env.Now()
		header.Date = &now
	}
	err := doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Header: header, Path: dir, CommandSeparator: "-"})
	if err != nil {
		return fmt.Errorf("writing the manual pages: %w", err)
	}
	return nil
}

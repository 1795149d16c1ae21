package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

//go:generate go run . man --format markdown --dir ../../docs/cli

func newMan(w *world) *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "man --dir DIR",
		Short: "Write the manual pages of every command into a folder",
		Long: `Write the manual pages of every command into a folder, which is made if it does not exist. The date on
the pages is that of SOURCE_DATE_EPOCH, if it is set, so that packages can be built twice alike.`,
		Example: "  candor man --dir man/man1\n  man -l man/man1/candor-decode.1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return bad("candor man --dir man/man1", "--dir is missing: the folder to write to")
			}
			if !contains(pageFormats, format) {
				return unknown("--format", format, pageFormats)
			}
			if err := os.MkdirAll(dir, 0o750); err != nil {
				return bad("choose a folder that can be written", "%s", err)
			}
			return writePages(w, cmd.Root(), dir, format)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder to write to")
	cmd.Flags().StringVar(&format, "format", pageFormats[0], "what to write: "+joinWords(pageFormats))
	complete(cmd, "format", pageFormats)
	return cmd
}

var pageFormats = []string{"man", "markdown"}

func writePages(w *world, root *cobra.Command, dir, format string) error {
	root.DisableAutoGenTag = true
	if format == "markdown" {
		return doc.GenMarkdownTree(root, dir)
	}
	header := &doc.GenManHeader{Section: "1", Source: programName, Manual: "Candor"}
	if w.getenv("SOURCE_DATE_EPOCH") == "" {
		header.Date = dateOf(w)
	}
	err := doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Header: header, Path: dir, CommandSeparator: "-"})
	if err != nil {
		return fmt.Errorf("writing the manual pages: %w", err)
	}
	return nil
}

func dateOf(w *world) *time.Time {
	now := w.now()
	return &now
}

package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// choice is an output format, chosen by --format or by --json, which means the same as --format json.
type choice struct {
	format string
	json   bool
	known  []string
}

func (c *choice) register(cmd *cobra.Command, known ...string) {
	c.known = known
	cmd.Flags().StringVar(&c.format, "format", known[0], "how to print: "+joinWords(known))
	cmd.Flags().BoolVar(&c.json, "json", false, "the same as --format json")
	complete(cmd, "format", known)
}

// pick returns the chosen format, or what is wrong with the choice.
func (c *choice) pick(cmd *cobra.Command) (string, error) {
	if !slices.Contains(c.known, c.format) {
		return "", unknown("--format", c.format, c.known)
	}
	if c.json && cmd.Flags().Changed("format") && c.format != "json" {
		return "", bad("leave one of them out", "--json and --format %s contradict each other", c.format)
	}
	if c.json {
		return "json", nil
	}
	return c.format, nil
}

func joinWords(list []string) string {
	out := ""
	for i, word := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			out += " or "
		default:
			out += ", "
		}
		out += word
	}
	return out
}

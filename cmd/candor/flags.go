package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/internal/plug"
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

// parseAge reads a duration that is not negative. Days may be given too: 7d.
func parseAge(text string) (time.Duration, error) {
	long := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n < 100000 {
			long = fmt.Sprintf("%dh", 24*n)
		}
	}
	d, err := time.ParseDuration(long)
	if err != nil || d < 0 {
		return 0, errors.New("not a duration such as 15m, 24h or 7d")
	}
	return d, nil
}

// ageFlag is a duration that may be given in days.
type ageFlag time.Duration

var _ pflag.Value = (*ageFlag)(nil)

func (a *ageFlag) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *ageFlag) Set(text string) error {
	d, err := parseAge(text)
	if err == nil {
		*a = ageFlag(d)
	}
	return err
}

func (a *ageFlag) Type() string { return "duration" }

// bytesFlag is a size in bytes.
type bytesFlag int64

var _ pflag.Value = (*bytesFlag)(nil)

func (b *bytesFlag) String() string { return "" }

func (b *bytesFlag) Set(text string) error {
	n, err := plug.ParseBytes(text)
	if err == nil {
		*b = bytesFlag(n)
	}
	return err
}

func (b *bytesFlag) Type() string { return "size" }
